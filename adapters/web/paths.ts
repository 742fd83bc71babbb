import type { PageReply } from "../web-page/page.js";

/** Sends the browser to `path` with 303, so that reloading or going back does not send the form again. */
export const redirect = (path: string, headers: Readonly<Record<string, string>> = {}): PageReply => ({
  status: 303,
  headers: { location: path, "cache-control": "no-store", ...headers },
  body: undefined,
});

/**
 * With the name and the path of a page, a query stays below 8 kB, the first line of a request that proxies accept. Both
 * HTTP servers take 16 kB with the headers.
 */
export const QUERY_CHARACTERS_MAX = 7_000;

/** The path to open after a login. Returns `/works` for text that is no path of this site, or is too long for a URL. */
export function nextPath(text: string | null): string {
  if (text === null || text.length > QUERY_CHARACTERS_MAX) return "/works";
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return "/works";
  if (creationIn(text) === undefined && encodeURIComponent(text).length > QUERY_CHARACTERS_MAX) return "/works";
  const here = "http://here.invalid";
  return URL.canParse(text, here) && new URL(text, here).origin === here ? text : "/works";
}

/** The page about assistants, which can show a new key. */
export const MCP_PATH = "/mcp";

/** Path behind a link to a page of members: strangers sign up first, or log in if sign-up is closed. */
export const entryPath = (path: string, isMember: boolean, hasSignUp: boolean): string =>
  isMember ? path : pathWith(hasSignUp ? "/signup" : "/login", path);

/** The path with `nextQuery`, unless the page to open next is the usual one. */
export const pathWith = (path: string, next: string): string =>
  next === nextPath(null) ? path : `${path}${path.includes("?") ? "&" : "?"}${nextQuery(next)}`;

/**
 * How the address of a login names the page to open next, which `nextIn` reads. A new panorama is there with its own
 * values: a prompt may be as long as an address can be, and `next` would encode it twice.
 */
export const nextQuery = (next: string): URLSearchParams => creationIn(next) ?? new URLSearchParams({ next });

/** The page to open next that `nextQuery` has put into the query. */
export function nextIn(query: URLSearchParams): string {
  const creation = creationValues(query);
  return nextPath(creation === undefined ? query.get("next") : `/works?${creation}`);
}

/** The prompt that waits behind this path; `undefined` if there is none. */
export const promptIn = (next: string): string | undefined => creationIn(next)?.get("prompt") ?? undefined;

const NAMES = ["prompt", "resolution", "visibility"] as const;

/** The form values for a new panorama in this path. `undefined` if the path has other values, or no prompt. */
export function creationIn(path: string): URLSearchParams | undefined {
  if (!path.startsWith("/works?")) return undefined;
  const given = new URLSearchParams(path.slice("/works?".length));
  const values = creationValues(given);
  return values?.size === given.size ? values : undefined;
}

/** The values of the form for a new panorama in a query; `undefined` without a prompt. */
function creationValues(query: URLSearchParams): URLSearchParams | undefined {
  const values = new URLSearchParams();
  for (const name of NAMES) {
    const value = query.get(name)?.trim();
    if (value) values.set(name, value);
  }
  return values.has("prompt") ? values : undefined;
}
