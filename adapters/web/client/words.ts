/** The messages that the scripts of this page need, in its language (adapters/web/layout.ts). None in English. */
const texts = JSON.parse(document.getElementById("words")?.textContent ?? "{}") as Readonly<Record<string, string>>;

/** A sentence in the language of the page. The English text is the key of its translations. */
export const words = (parts: TemplateStringsArray, ...values: readonly (string | number)[]): string => {
  const message = parts.reduce((text, part, index) => `${text}{${index - 1}}${part}`);
  return (texts[message] ?? message).replace(/\{(\d)\}/g, (_, index) => String(values[index]));
};
