/**
 * Safe HTML. It is created only by `html`, which escapes every inserted value, and by code that inserts text of this
 * service's own files: Markdown, highlighted examples, styles.
 */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value that a template accepts. `undefined` and `false` insert nothing. */
type Insertable = Html | string | number | undefined | false | readonly Insertable[];

/** Escapes the inserted values: safe in text and in attributes with double quotes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Insertable[]): Html =>
  new Html(parts.map((part, index) => (index === 0 ? part : inserted(values[index - 1]) + part)).join(""));

function inserted(value: Insertable): string {
  if (value === undefined || value === false) return "";
  if (typeof value === "string") return escaped(value);
  if (value instanceof Html) return value.text;
  return typeof value === "number" ? String(value) : value.map(inserted).join("");
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** An icon of lines, 24 × 24, in the colour of the text. `path`: its SVG path. */
export const icon = (path: string): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d="${path}"/></svg>`;
