import { randomUUID } from "node:crypto";

/** Version 00 of W3C Trace Context. A later version begins with the same fields. */
const VALID = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?$/;
const CHARACTERS = 55;
const VERSION_00 = "00-";

/** As `randomUUID` makes them: its second half is never 0. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * The W3C trace context of a request: the client's if its header is valid, otherwise a new one. The trace id of a new
 * one is the request id without hyphens, if that is a UUID. It is marked as sampled, so that receivers record it as
 * this service does.
 */
export const traceparentOf = (header: string | undefined, requestId: string): string => {
  const known = header === undefined ? undefined : clientsOwn(header);
  if (known !== undefined) return known;
  const traceId = (UUID.test(requestId) ? requestId : randomUUID()).replaceAll("-", "");
  return `${VERSION_00}${traceId}-${traceId.slice(16)}-01`;
};

const clientsOwn = (header: string): string | undefined => {
  const fields = VALID.exec(header)?.[1];
  const isCutOff = header.startsWith(VERSION_00) && header.length !== CHARACTERS;
  return fields === undefined || isCutOff ? undefined : VERSION_00 + fields;
};

/** The id of the trace, 32 hexadecimal digits. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);
