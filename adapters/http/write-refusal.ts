import { errorBody } from "./errors.js";
import { requestIdOf } from "./request-id.js";

const RETRY_AFTER_SECONDS = 1;

/** The answer to a request that is not handled. The specification has no other code that tells a client to wait. */
const { headers, body } = errorBody(
  429,
  "rate_limited",
  `The service is overloaded and has not handled this request. Retry in ${RETRY_AFTER_SECONDS} s.`,
  { "retry-after": String(RETRY_AFTER_SECONDS) },
);

/** A request as uWebSockets passes it, as far as a refusal needs it. Valid only in the call that receives it. */
export type BareRequest = { getHeader(name: string): string; getMethod(): string };

export type BareResponse = {
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  onAborted(handler: () => void): void;
  end(body: string): void;
  endWithoutBody(sizeBytes: number): void;
};

const ignore = () => {};

/** Answers that the service is overloaded. What still arrives of the request is discarded, and the connection stays usable. */
export const writeRefusal = (request: BareRequest, response: BareResponse): void => {
  // Without a handler uWebSockets ends the process when it takes an answer for unfinished, as it does without a body.
  response.onAborted(ignore);
  response.writeStatus("429 Too Many Requests");
  for (const [name, value] of Object.entries(headers)) response.writeHeader(name, value);
  response.writeHeader("x-request-id", requestIdOf(request.getHeader("x-request-id")));
  if (request.getMethod() === "head") response.endWithoutBody(body.length);
  else response.end(body);
};
