/** A response of uWebSockets, as far as answers without hyper-express need it. */
export type BareResponse = {
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  onAborted(handler: () => void): void;
  end(body: string): void;
  getRemoteAddressAsText(): ArrayBuffer;
};

/**
 * Ends an answer to HEAD, a 204 or a 304. `sizeBytes`: the length of the body that GET would get. If uWebSockets is told the
 * length itself, it takes the answer for unfinished and closes the connection at the next request; `undefined` it takes for
 * a length of 2^63 bytes (https://github.com/uNetworking/uWebSockets/issues/1855).
 */
export const endWithoutBody = (response: BareResponse, sizeBytes: number | undefined): void => {
  if (sizeBytes !== undefined) response.writeHeader("content-length", String(sizeBytes));
  Object.getPrototypeOf(response).endWithoutBody.call(response);
};
