/** With its name and the path of a page, `next` stays below the 8 kB that proxies take as the first line of a request. */
const ENCODED_CHARACTERS_MAX = 7_000;

/** The path to open after a login. Returns `/works` for any text that is not a path of this site, or too long for a URL. */
export const nextPath = (text: string | null): string => {
  if (text === null || text.length > ENCODED_CHARACTERS_MAX) return "/works";
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || encodeURIComponent(text).length > ENCODED_CHARACTERS_MAX)
    return "/works";
  const here = "http://here.invalid";
  return URL.canParse(text, here) && new URL(text, here).origin === here ? text : "/works";
};
