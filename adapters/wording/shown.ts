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
