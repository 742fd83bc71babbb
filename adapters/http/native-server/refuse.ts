import { REFUSAL } from "../refusal.js";
import { requestIdOf } from "../request-id.js";

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
export const refuse = (request: BareRequest, response: BareResponse): void => {
  // Without a handler uWebSockets ends the process when it takes an answer for unfinished, as it does without a body.
  response.onAborted(ignore);
  response.writeStatus(`${REFUSAL.status} ${REFUSAL.reason}`);
  for (const [name, value] of Object.entries(REFUSAL.headers)) response.writeHeader(name, value);
  response.writeHeader("x-request-id", requestIdOf(request.getHeader("x-request-id")));
  if (request.getMethod() === "head") response.endWithoutBody(REFUSAL.body.length);
  else response.end(REFUSAL.body);
};
