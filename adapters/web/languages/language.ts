/**
 * A language of the pages. English is that of the sources; others have a text for each of their messages. The English
 * text is the key: so a sentence stands where it is shown, which libraries of translations, with a name for each
 * message, do not allow. Given up: a change of the English text is one of the other files, too; a test names them.
 */
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
