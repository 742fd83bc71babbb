import type { PageRequest } from "../../web-page/page.js";
import german from "./de.json" with { type: "json" };
import { ENGLISH, type Language } from "./language.js";

/** A new language is a file beside this one, and a line here. */
export const LANGUAGES: readonly Language[] = [
  ENGLISH,
  { code: "de", name: "Deutsch", locale: "de-DE", messages: new Map(Object.entries(german)) },
];

/** The cookie with the reader's choice (session-guard.ts). Over HTTPS its name has a prefix. */
const CHOICE = /(?:^|;\s*)(?:__Host-)?language=([\w-]+)/;

/** The language that the reader has chosen, or else the first one of the browser's that there is, or else English. */
export const languageOf = (headers: PageRequest["headers"]): Language => {
  const [, chosen] = CHOICE.exec(headers.cookie ?? "") ?? [];
  return languageWith(chosen) ?? preferredIn(headers["accept-language"] ?? "") ?? ENGLISH;
};

export const languageWith = (code: string | null | undefined): Language | undefined =>
  LANGUAGES.find((language) => language.code === code);

/** https://www.rfc-editor.org/rfc/rfc9110#name-accept-language */
const preferredIn = (accepted: string): Language | undefined => {
  let preferred: { readonly language: Language; readonly quality: number } | undefined;
  for (const range of accepted.split(",", RANGES_MAX)) {
    const [tag = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const language = LANGUAGES.find(({ code }) => tag === code || tag.startsWith(`${code}-`));
    const given = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = given === undefined ? 1 : Number(given.slice(2));
    // Of two with the same quality, the first one.
    if (language !== undefined && quality > (preferred?.quality ?? 0)) preferred = { language, quality };
  }
  return preferred?.language;
};

/** Browsers send ten at most. */
const RANGES_MAX = 20;
