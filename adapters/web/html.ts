/** Text that is HTML already: only `html` makes it, and so everything in it is escaped or was written by us. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template; nothing is shown for `undefined` and `false`. */
export type Insertable = Html | string | number | undefined | false | readonly Insertable[];

/** A template whose values are escaped, for text and for attributes in double quotes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Insertable[]): Html =>
  new Html(parts.map((part, index) => (index === 0 ? part : textOf(values[index - 1]) + part)).join(""));

const textOf = (value: Insertable): string => {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "string") return value.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
  return typeof value === "number" ? String(value) : value.map(textOf).join("");
};

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
