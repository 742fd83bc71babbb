import { err, ok, type Result } from "neverthrow";
import type { Brand } from "./brand.js";
import type { Credits } from "./credits.js";
import { type InvalidRequest, invalidRequest, shown } from "./invalid-request.js";

export type AccountId = Brand<string, "AccountId">;

/** Returns `undefined` for text that cannot be an account id, so that no lookup is needed. */
export const parseAccountId = (text: string): AccountId | undefined =>
  /^[A-Za-z0-9_-]{1,40}$/.test(text) ? (text as AccountId) : undefined;

/** An e-mail address in lower case: one person, one spelling. */
export type Email = Brand<string, "Email">;

export type Account = { readonly id: AccountId; readonly email: Email; readonly createdAt: Date };

/** What an account may still do: what decides on a new task (specification, Limits). */
export type Standing = {
  readonly accountId: AccountId;
  readonly credits: Credits;
  /** Tasks that are `processing`. */
  readonly activeTasks: number;
};

export const parseEmail = (text: string): Result<Email, InvalidRequest> => {
  const email = text.trim().toLowerCase();
  return email.length <= 254 && /^[^\s@\p{Cc}]+@[^\s@.\p{Cc}]+(\.[^\s@.\p{Cc}]+)*$/u.test(email) && email.isWellFormed()
    ? ok(email as Email)
    : err(invalidRequest(`email: must be an address such as name@example.com, but is ${shown(text)}.`));
};
