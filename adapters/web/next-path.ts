import { creationIn } from "./creation-in.js";

/**
 * With the name and the path of a page, a query stays below 8 kB, the first line of a request that proxies accept. Both
 * HTTP servers take 16 kB with the headers.
 */
export const QUERY_CHARACTERS_MAX = 7_000;

/** The path to open after a login. Returns `/works` for text that is no path of this site, or is too long for a URL. */
export const nextPath = (text: string | null): string => {
  if (text === null || text.length > QUERY_CHARACTERS_MAX) return "/works";
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return "/works";
  if (creationIn(text) === undefined && encodeURIComponent(text).length > QUERY_CHARACTERS_MAX) return "/works";
  const here = "http://here.invalid";
  return URL.canParse(text, here) && new URL(text, here).origin === here ? text : "/works";
};
