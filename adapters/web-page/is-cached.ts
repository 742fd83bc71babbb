/** Whether an `If-None-Match` header names the ETag, so that the client needs no body (RFC 9110, 13.1.2). */
export const isCached = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? "").split(",").some((known) => ["*", etag, `W/${etag}`].includes(known.trim()));
