import type { PageDocument, PageReply, PageRequest } from "../../web-page/page.js";
import type { Reply } from "./reply.js";

/** The answer of a page, for the reader who has sent this request. */
export const written = ({ status, headers, body }: PageReply, request: Pick<PageRequest, "headers">): Reply => ({
  status,
  headers,
  body: isDocument(body) ? body.writeFor(request.headers) : body,
});

const isDocument = (body: PageReply["body"]): body is PageDocument => typeof body === "object" && "writeFor" in body;
