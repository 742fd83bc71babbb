import type { Result } from "neverthrow";
import * as z from "zod";

/** Schemas shared by environment variables. */

export const milliseconds = (min: number) => z.coerce.number().int().min(min).max(86_400_000);

/** Characters of a host in a URL: no wildcards. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])$/i;

/** Ports that browsers and `fetch` never open (Fetch Standard, "bad port"), from 1024 on. */
const BAD_PORTS = [
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
];
export const isBadPort = (port: number): boolean => BAD_PORTS.includes(port);

/** What makes a URL to which others append paths unusable: a phrase with "must". */
const baseProblem = (text: string): string | undefined => {
  const { hostname, port, username, password } = new URL(text);
  if (text.includes("?")) return "must not have a query, the part from ? on";
  if (text.includes("#")) return "must not have a fragment, the part from # on";
  if (username !== "" || password !== "") return "must not have a user name or password";
  if (!HOST.test(hostname)) return `must not have the host ${hostname}, which is no name and no address`;
  if (port === "0") return "must not have port 0";
  return undefined;
};

/** The base of URLs: an http(s) URL that may have a path, without a slash at its end. Scheme and host in lower case. */
export const baseUrl = z.url({ protocol: /^https?$/ }).transform((text, context) => {
  const problem = baseProblem(text);
  if (problem === undefined) return new URL(text).href.replace(/\/+$/, "");
  context.addIssue(problem);
  return z.NEVER;
});

/** A base URL without a path, at which browsers find pages. */
export const origin = baseUrl.transform((url, context) => {
  const { origin, pathname, port } = new URL(url);
  if (pathname === "/" && !isBadPort(Number(port))) return origin;
  context.addIssue(
    pathname === "/"
      ? `must not have port ${port}, which browsers refuse to open`
      : `must not have a path: remove ${pathname}. The service needs a host name of its own`,
  );
  return z.NEVER;
});

/**
 * A URL with a login: of the database, of the mail server. Special characters in user and password must be encoded:
 * otherwise the rest of the password would be taken for the host, the path or the query.
 */
export const loginUrl = (protocol: RegExp, form: string) => {
  const error = `must be ${form}, with #, /, ?, @ and % in user and password as %23, %2F, %3F, %40 and %25`;
  return z.url({ protocol, error, abort: true }).superRefine((text, context) => {
    if (!URL.canParse(text)) return;
    const { username, password, hostname, port, pathname, search, hash } = new URL(text);
    const isDecodable = [username, password, pathname].every((part) => /^(%[\da-f]{2}|[^%])*$/i.test(part));
    if (hash !== "" || /@/.test(pathname + search) || !isDecodable) context.addIssue(error);
    else if (port === "0") context.addIssue("must not have port 0");
    else if (hostname === "" && /^smtp/i.test(text)) context.addIssue("must have a host");
  });
};

/** Secrets are sent in HTTP headers, which allow visible ASCII only. */
export const secret = z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII characters");

/** Success type of a Result. */
export type SuccessOf<Returned> = Returned extends Result<infer Valid, unknown> ? Valid : never;
