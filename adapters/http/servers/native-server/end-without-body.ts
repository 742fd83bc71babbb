import type { BareResponse } from "../../library-internals.js";

/**
 * Ends an answer to HEAD, a 204 or a 304. `sizeBytes`: the length of the body that GET would get. If uWebSockets gets
 * the length itself, it treats the answer as unfinished and closes the connection at the next request. It treats
 * `undefined` as a length of 2^63 bytes (https://github.com/uNetworking/uWebSockets/issues/1855).
 */
export const endWithoutBody = (response: BareResponse, sizeBytes: number | undefined): void => {
  if (sizeBytes !== undefined) response.writeHeader("content-length", String(sizeBytes));
  Object.getPrototypeOf(response).endWithoutBody.call(response);
};
