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

/** A value for an error message: short, on one line, and quoted if it is text. */
export const shown = (value: unknown): string => {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
};
