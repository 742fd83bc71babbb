import { err, ok, type Result } from "neverthrow";
import { type Brand, made } from "./brand.js";
import type { Day } from "./budget.js";
import type { Credits } from "./credits.js";
import { type InvalidRequest, invalidRequest } from "./invalid-request.js";

/** Identifies an account. `Ids.accountId` makes one; `parseAccountId` reads one. */
export type AccountId = Brand<string, "AccountId">;

/** Returns `undefined` for text that cannot be an account id, so that no lookup is needed. */
export const parseAccountId = (text: string): AccountId | undefined =>
  /^[A-Za-z0-9_-]{1,40}$/.test(text) ? (text as AccountId) : undefined;

/** Makes one from a constant. Throws for text that cannot be one: input is parsed. */
export const accountId = (text: string): AccountId =>
  made(parseAccountId(text), text, "an account id: 1 to 40 of the characters A-Z, a-z, 0-9, _ and -");

/** An e-mail address in lower case, so that each address has one spelling. */
export type Email = Brand<string, "Email">;

/** The longest address, in characters. */
export const EMAIL_CHARACTERS_MAX = 254;

/** A customer with credits. */
export type Account = { readonly id: AccountId; readonly email: Email; readonly createdAt: Date };

/**
 * What the creations of an account that ended on one day, in UTC, without a panorama have left behind: their number, and
 * the bytes of their texts. They cost no credits, so that without a limit an account could fill the database for nothing.
 */
export type Failures = { readonly day: Day; readonly count: number; readonly bytes: number };

/** The state of an account that decides whether it may open a new task (specification, Limits). */
export type Standing = {
  readonly accountId: AccountId;
  readonly credits: Credits;
  /** Tasks that are `processing`. */
  readonly activeTasks: number;
  /** Below this balance the owner is told (low-balance.ts). */
  readonly lowBalanceThreshold?: Credits | undefined;
  /** Its creations without a panorama, on the latest day with any; `undefined`: there were none. */
  readonly failures?: Failures | undefined;
};

/** Trims and lower-cases the address. The error names the rule that it breaks. */
export const parseEmail = (text: string): Result<Email, InvalidRequest> => {
  const email = text.trim().toLowerCase();
  const hasForm = /^[^\s@\p{Cc}]+@[^\s@.\p{Cc}]+(\.[^\s@.\p{Cc}]+)*$/u.test(email) && email.isWellFormed();
  return hasForm && email.length <= EMAIL_CHARACTERS_MAX
    ? ok(email as Email)
    : err(invalidRequest("email", { name: "email", actual: text }));
};
