import { ENGLISH, type Language } from "./languages/language.js";
import { type TranslatedTemplate, translateHtml, translateText } from "./languages/translate-template.js";

/** Plain text that the reader's language decides. */
export class Words {
  readonly in: (language: Language) => string;

  constructor(write: (language: Language) => string) {
    this.in = write;
  }

  /** In English. */
  toString(): string {
    return this.in(ENGLISH);
  }
}

/** Text for a page. A `string` is the same in all languages: a name, or what somebody has typed. */
export type Text = Words | string;

export const textIn = (text: Text, language: Language): string => (typeof text === "string" ? text : text.in(language));

/** A sentence of the pages: the English text is the key of its translations (languages/). */
export const words = (parts: TemplateStringsArray, ...values: readonly (Text | number | undefined | false)[]): Words =>
  new Words((language) => written(parts, language, translateText, (index) => plain(values[index], language)));

/**
 * A sentence that is written elsewhere, in English: numbers, quoted values and `value` in it are the placeholders of
 * its message.
 */
export const said = (sentence: string, value = ""): Words =>
  new Words((language) => {
    const values: string[] = [];
    const placeholder = (one: string): string => `{${values.push(one) - 1}}`;
    const start = value === "" ? -1 : sentence.indexOf(value);
    const message =
      start === -1
        ? sentence.replace(VARYING, placeholder)
        : sentence.slice(0, start).replace(VARYING, placeholder) +
          placeholder(value) +
          sentence.slice(start + value.length).replace(VARYING, placeholder);
    const translation = language.messages.get(message);
    return translation?.replace(/\{(\d+)\}/g, (_, index) => values[index] ?? "") ?? sentence;
  });

const VARYING = /"(?:[^"\\]|\\.)*"|-?\d+(?:,\d{3})*(?:\.\d+)?/g;

export const joined = (texts: readonly Text[], separator: string): Words =>
  new Words((language) => texts.map((text) => textIn(text, language)).join(separator));

const plain = (value: Text | number | undefined | false, language: Language): string =>
  value === undefined || value === false ? "" : value instanceof Words ? value.in(language) : String(value);

/**
 * Safe HTML. It is created only by `html`, which escapes every inserted value, and by code that inserts text of this
 * service's own files: Markdown, highlighted examples, styles. It becomes text when the language is known.
 */
export class Html {
  /** Of `html`; or safe text, the same in all languages or made for one. */
  private readonly template: TemplateStringsArray | string | ((language: Language) => string);
  private readonly values: readonly Insertable[];

  constructor(template: Html["template"], values: readonly Insertable[] = []) {
    this.template = template;
    this.values = values;
  }

  in(language: Language): string {
    const { template, values } = this;
    if (typeof template === "string") return template;
    if (typeof template === "function") return template(language);
    return written(template, language, translateHtml, (index) => escapedIn(values[index], language));
  }

  /** In English. */
  get text(): string {
    return this.in(ENGLISH);
  }
}

/** A value that a template accepts. `undefined` and `false` insert nothing. */
type Insertable = Html | Words | string | number | undefined | false | readonly Insertable[];

/** Escapes the inserted values: safe in text and in attributes with double quotes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Insertable[]): Html => new Html(parts, values);

const escapedIn = (value: Insertable, language: Language): string => {
  if (value === undefined || value === false) return "";
  if (typeof value === "string") return escaped(value);
  if (value instanceof Html) return value.in(language);
  if (value instanceof Words) return escaped(value.in(language));
  return typeof value === "number" ? String(value) : value.map((one) => escapedIn(one, language)).join("");
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const written = (
  template: TemplateStringsArray,
  language: Language,
  translate: typeof translateHtml,
  valueAt: (index: number) => string,
): string => {
  if (language === ENGLISH) {
    return template.map((part, index) => (index === 0 ? part : valueAt(index - 1) + part)).join("");
  }
  const { parts, order } = translation(template, language, translate);
  return parts.map((part, index) => (index === 0 ? part : valueAt(order[index - 1] ?? 0) + part)).join("");
};

/** Templates are part of the program, so there are only so many of them. */
const translations = new WeakMap<Language, WeakMap<TemplateStringsArray, TranslatedTemplate>>();

const translation = (
  template: TemplateStringsArray,
  language: Language,
  translate: typeof translateHtml,
): TranslatedTemplate => {
  const known = translations.get(language) ?? new WeakMap<TemplateStringsArray, TranslatedTemplate>();
  translations.set(language, known);
  const made = known.get(template) ?? translate(template, (message) => language.messages.get(message));
  known.set(template, made);
  return made;
};
