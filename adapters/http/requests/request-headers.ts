import { randomUUID } from "node:crypto";

/** The `x-request-id` that the client sent, if it is safe for headers and logs; else a new id. */
export const requestIdOf = (header: string | undefined): string =>
  header !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : randomUUID();

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

export const WAIT_SECONDS_MAX = 30;

/**
 * The wait that a `Prefer` header requests (RFC 7240), at most `WAIT_SECONDS_MAX`; `undefined` if it requests none.
 * Ignores preferences that cannot be parsed, as the RFC requires.
 */
export const preferredWaitSeconds = (header: string | undefined): number | undefined => {
  for (const preference of header?.split(",") ?? []) {
    const [name, value] =
      preference
        .split(";")[0]
        ?.split("=")
        .map((text) => text.trim()) ?? [];
    if (name?.toLowerCase() !== "wait") continue;
    // Only the first of a repeated preference counts, even if it cannot be parsed.
    const seconds = /^"?([0-9]+)"?$/.exec(value ?? "")?.[1];
    return seconds === undefined ? undefined : Math.min(Number(seconds), WAIT_SECONDS_MAX);
  }
  return undefined;
};
