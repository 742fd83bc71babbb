import type { Result } from "neverthrow";
import * as z from "zod";

/** Schemas shared by environment variables. */

export const milliseconds = (min: number) => z.coerce.number().int().min(min).max(86_400_000);

/** Ports that browsers and `fetch` never open (Fetch Standard, "bad port"), from 1024 on. */
const BAD_PORT = /^(1719|172[03]|2049|3659|4045|4190|506[01]|6000|6566|666[5-9]|6679|6697|10080)$/;
export const isBadPort = (port: number | string): boolean => BAD_PORT.test(String(port));

/** What makes a URL to which others append paths unusable: a phrase with "must". */
const baseProblem = (text: string): string | undefined => {
  const { hostname, port, username, password } = new URL(text);
  if (text.includes("?")) return "must not have a query, the part from ? on";
  if (text.includes("#")) return "must not have a fragment, the part from # on";
  if (username !== "" || password !== "") return "must not have a user name or password";
  if (port === "0") return "must not have port 0";
  const isHost = /^([\w.-]+|\[[\da-f:.]+\])$/i.test(hostname); // no wildcards
  return isHost ? undefined : `must not have the host ${hostname}, which is no name and no address`;
};

const originProblem = (text: string): string | undefined => {
  const { pathname, port } = new URL(text);
  if (pathname !== "/") return `must not have a path: remove ${pathname}. The service needs a host name of its own`;
  return isBadPort(port) ? `must not have port ${port}, which browsers refuse to open` : undefined;
};

const without = (problemOf: (text: string) => string | undefined) => (text: string, context: z.RefinementCtx) => {
  const problem = problemOf(text);
  if (problem !== undefined) context.addIssue(problem);
};

/** The base of URLs: an http(s) URL that may have a path, without a slash at its end. Scheme and host in lower case. */
export const baseUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .superRefine(without(baseProblem))
  .transform((text) => new URL(text).href.replace(/\/+$/, ""));

/** A base URL without a path, at which browsers find pages. */
export const origin = baseUrl.superRefine(without(originProblem));

/**
 * A URL with a login: of the database, of the mail server. Special characters in user and password must be encoded:
 * otherwise the rest of the password would be taken for the host, the path or the query.
 */
export const loginUrl = (protocol: RegExp, form: string) => {
  const error = `must be ${form}, with #, /, ?, @ and % in user and password as %23, %2F, %3F, %40 and %25`;
  const problemOf = (text: string) => {
    const { username, password, hostname, port, pathname, search, hash } = new URL(text);
    const isDecodable = [username, password, pathname].every((part) => /^(%[\da-f]{2}|[^%])*$/i.test(part));
    if (hash !== "" || /@/.test(pathname + search) || !isDecodable) return error;
    if (port === "0") return "must not have port 0";
    return hostname === "" && /^smtp/i.test(text) ? "must have a host" : undefined;
  };
  return z.url({ protocol, error, abort: true }).superRefine(without(problemOf));
};

/** Secrets are sent in HTTP headers, which allow visible ASCII only. */
export const secret = z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII characters");

export type SuccessOf<Returned> = Returned extends Result<infer Valid, unknown> ? Valid : never;
