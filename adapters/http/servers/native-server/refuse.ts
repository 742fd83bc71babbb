import type { BareRequest, BareResponse } from "../../library-internals.js";
import { REFUSAL } from "../../replies/errors.js";
import type { SentRequest } from "../../request-source.js";
import { requestIdOf } from "../../requests/request-headers.js";

const ignore = () => {};

/**
 * Answers that the service is overloaded. The rest of the request is discarded, and the connection stays
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

/**
 * Ends an answer to HEAD, a 204 or a 304. `sizeBytes`: the length of the body that GET would get. If uWebSockets gets
 * the length itself, it treats the answer as unfinished and closes the connection at the next request. It treats
 * `undefined` as a length of 2^63 bytes (https://github.com/uNetworking/uWebSockets/issues/1855).
 */
export const endWithoutBody = (response: BareResponse, sizeBytes: number | undefined): void => {
  if (sizeBytes !== undefined) response.writeHeader("content-length", String(sizeBytes));
  Object.getPrototypeOf(response).endWithoutBody.call(response);
};

/** The sender of a request of uWebSockets. Values are copied when they are first read. */
export class BareSent implements SentRequest {
  private readonly request: BareRequest;
  private readonly response: BareResponse;

  constructor(request: BareRequest, response: BareResponse) {
    this.request = request;
    this.response = response;
  }

  header(name: string): string | undefined {
    return this.request.getHeader(name) || undefined;
  }

  get peerAddress(): string {
    return Buffer.from(this.response.getRemoteAddressAsText()).toString();
  }
}
