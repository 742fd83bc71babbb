import { shortened } from "../../domain/text.js";

const SHOWN_CHARACTERS_MAX = 60;

/** A value for an error message, to follow "but is": short, on one line, and quoted if it is text. Never throws. */
export const shown = (value: unknown): string => {
  if (value === undefined) return "missing";
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return value.length === 1 ? "an array of 1 item" : `an array of ${value.length} items`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
};

const quoted = (text: string): string => {
  const cut = shortened(text, SHOWN_CHARACTERS_MAX);
  return JSON.stringify(cut).replace(UNPRINTABLE, (character) => `\\u${hexadecimal(character)}`);
};

/** Characters that JSON does not escape, but that would break the line or reverse the direction of the text. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const hexadecimal = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, "0");

/** Share of the text that is kept at least, so that it ends with a word. Not every script has spaces. */
const KEPT = 1 / 2;

/** As `shortened`, but ends behind a whole word if there is one in its second half, and never with a comma or dash. */
export const cutAtWord = (text: string, charactersMax: number): string => {
  const cut = shortened(text, charactersMax);
  if (cut === text) return text;
  const start = cut.slice(0, -1);
  const isWhole = /^\s/u.test(text.slice(start.length));
  const space = isWhole ? start.length : start.search(/\s\S*$/u);
  const kept = space < start.length * KEPT ? start : start.slice(0, space);
  return `${kept.replace(/[\s,;:–—-]+$/u, "")}…`;
};
