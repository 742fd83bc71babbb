import { randomUUID } from "node:crypto";

/** The `x-request-id` that the client sent, if it is safe for headers and logs; else a new id. */
export const requestIdOf = (header: string | undefined): string =>
  header !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : randomUUID();
