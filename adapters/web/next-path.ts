/** With its name and the path of a page, `next` stays below 8 kB, the first line of a request that proxies accept. */
const ENCODED_CHARACTERS_MAX = 7_000;

/** The path to open after a login. Returns `/works` for text that is no path of this site, or is too long for a URL. */
export const nextPath = (text: string | null): string => {
  if (text === null || text.length > ENCODED_CHARACTERS_MAX) return "/works";
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || encodeURIComponent(text).length > ENCODED_CHARACTERS_MAX)
    return "/works";
  const here = "http://here.invalid";
  return URL.canParse(text, here) && new URL(text, here).origin === here ? text : "/works";
};
