import type { BareRequest, BareResponse } from "../../library-internals.js";
import { REFUSAL } from "../../replies/refusal.js";
import { requestIdOf } from "../../requests/request-id.js";
import { endWithoutBody } from "./end-without-body.js";

const ignore = () => {};

/**
 * Answers that the service is overloaded. What still arrives of the request is discarded, and the connection stays
 * usable. A refusal must be much cheaper than a request: it comes before any header is read, and writes no log line.
 */
export const refuse = (request: BareRequest, response: BareResponse): void => {
  // Without a handler uWebSockets ends the process when it takes an answer for unfinished.
  response.onAborted(ignore);
  response.writeStatus(`${REFUSAL.status} ${REFUSAL.reason}`);
  for (const [name, value] of Object.entries(REFUSAL.headers)) response.writeHeader(name, value);
  response.writeHeader("x-request-id", requestIdOf(request.getHeader("x-request-id")));
  if (request.getMethod() === "head") endWithoutBody(response, REFUSAL.body.length);
  else response.end(REFUSAL.body);
};
