/** A language of the pages. English is that of the sources; others have a text for each of their messages. */
export type Language = {
  /** As in `lang` and `Accept-Language`: https://www.rfc-editor.org/info/bcp47. */
  readonly code: string;
  /** In the language itself. */
  readonly name: string;
  /** For dates, numbers and money. */
  readonly locale: string;
  /** By the English text. */
  readonly messages: ReadonlyMap<string, string>;
};

export const ENGLISH: Language = { code: "en", name: "English", locale: "en-GB", messages: new Map() };
