import { randomUUID } from "node:crypto";

/** The caller's own id, if it can go into headers and logs as it is; else a new one. */
export const requestIdOf = (header: string | undefined): string =>
  header !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : randomUUID();
