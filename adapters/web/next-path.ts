/** Where to go after a login: only ever a path of this site. Anything else that `text` may say leads to the works. */
export const nextPath = (text: string | null): string => {
  if (text === null || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return "/works";
  const here = "http://here.invalid";
  return URL.canParse(text, here) && new URL(text, here).origin === here ? text : "/works";
};
