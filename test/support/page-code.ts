const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'", amp: "&" };

/** The text of every block of code in a language on the page `/docs`. */
export const codeOnPage = (page: string, language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`<div class="code dark ${language}">.*?<code>(.*?)</code>`, "gs"))].map(
    ([, code = ""]) => textOf(code),
  );

/** The text of HTML without its tags, with a space between blocks. */
export const textOf = (html: string): string =>
  html
    .replace(/<\/?(p|li|ul|h\d|td|tr|div|details|summary|section|legend|label)\b[^>]*>/g, " ")
    .replace(/<[^>]*>/g, "")
    .replace(/&([#\w]+);/g, (entity, name: string) => ENTITIES[name] ?? entity);
