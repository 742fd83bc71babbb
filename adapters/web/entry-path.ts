import { creationIn, creationValues } from "./creation-in.js";
import { nextPath } from "./next-path.js";

/** Where somebody goes who presses a link to a page of members: a stranger signs up first, or logs in if nobody can. */
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
export const nextIn = (query: URLSearchParams): string => {
  const creation = creationValues(query);
  return nextPath(creation === undefined ? query.get("next") : `/works?${creation}`);
};

/** The prompt that waits behind this path; `undefined` if there is none. */
export const promptIn = (next: string): string | undefined => creationIn(next)?.get("prompt") ?? undefined;
