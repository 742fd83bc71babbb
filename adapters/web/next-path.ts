/** The path to open after a login. Returns `/works` for any text that is not a path of this site. */
export const nextPath = (text: string | null): string => {
  if (text === null || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return "/works";
  const here = "http://here.invalid";
  return URL.canParse(text, here) && new URL(text, here).origin === here ? text : "/works";
};
