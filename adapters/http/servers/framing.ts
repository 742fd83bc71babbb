/**
 * Reason why it is not certain where the body of a request ends (RFC 9112, 6.3): a proxy may see its end elsewhere, and
 * another request in it. `lengths` and `encodings` are the values of all these headers that were sent.
 */
export const framingFault = (lengths: readonly string[], encodings: readonly string[]): string | undefined => {
  if (lengths.length > 1) return "Content-Length: must not be sent more than once.";
  if (!lengths.every((length) => /^\d+$/.test(length))) return "Content-Length: must be a number.";
  if (encodings.length > 1 || !encodings.every((encoding) => encoding === "chunked")) {
    return "Transfer-Encoding: must be chunked, in lower case, or not sent at all.";
  }
  if (lengths.length + encodings.length > 1) return "Content-Length: must not be sent with Transfer-Encoding.";
  return undefined;
};
