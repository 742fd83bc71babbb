import { REFUSAL } from "../refusal.js";
import { requestIdOf } from "../request-id.js";
import { type BareResponse, endWithoutBody } from "./end-without-body.js";

/** A request as uWebSockets passes it, as far as a refusal needs it. Valid only in the call that receives it. */
export type BareRequest = { getHeader(name: string): string; getMethod(): string };

const ignore = () => {};

/** Answers that the service is overloaded. What still arrives of the request is discarded, and the connection stays usable. */
export const refuse = (request: BareRequest, response: BareResponse): void => {
  // Without a handler uWebSockets ends the process when it takes an answer for unfinished.
  response.onAborted(ignore);
  response.writeStatus(`${REFUSAL.status} ${REFUSAL.reason}`);
  for (const [name, value] of Object.entries(REFUSAL.headers)) response.writeHeader(name, value);
  response.writeHeader("x-request-id", requestIdOf(request.getHeader("x-request-id")));
  if (request.getMethod() === "head") endWithoutBody(response, REFUSAL.body.length);
  else response.end(REFUSAL.body);
};
