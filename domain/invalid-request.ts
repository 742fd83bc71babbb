import type { z } from "zod";

/** Input that breaks a rule. `message` names the field, the rule and the value: it is shown to the client as it is. */
export type InvalidRequest = { readonly kind: "invalid_request"; readonly message: string };

export const invalidRequest = (message: string): InvalidRequest => ({ kind: "invalid_request", message });

/** The first broken rule of a schema, as `field: what is wrong.` */
export const invalidBySchema = (error: z.ZodError, whole: string): InvalidRequest => {
  const issue = error.issues[0];
  if (issue === undefined) return invalidRequest(`${whole}: is invalid.`);
  const field = issue.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  return invalidRequest(`${field.replace(/^\./, "") || whole}: ${issue.message}`);
};

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
  // Half a surrogate pair at the cut would be shown as an escape that the text does not have.
  const beginning = text.slice(0, SHOWN_CHARACTERS_MAX).replace(/[\uD800-\uDBFF]$/, "");
  const cut = text.length > SHOWN_CHARACTERS_MAX ? `${beginning}…` : text;
  return JSON.stringify(cut).replace(UNPRINTABLE, (character) => `\\u${hexadecimal(character)}`);
};

/** What JSON leaves as it is, but would break the line or turn the text around. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const hexadecimal = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, "0");
