/**
 * The URL of a generated image, as `new URL()` writes it: then it has no character that a database or a header rejects.
 * `undefined` if it is not an http or https URL, which could not be downloaded or shown.
 */
export const resultUrlOf = (text: string): string | undefined => {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
};
