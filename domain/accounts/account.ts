import { err, ok, type Result } from "neverthrow";
import { type AccountId, type Brand, valueOrThrow } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";

/** An e-mail address in lower case, so that each address has one spelling. */
export type Email = Brand<string, "Email">;

/** The longest address, in characters. */
export const EMAIL_CHARACTERS_MAX = 254;

/**
 * An operator has suspended the account: its keys are refused and it creates nothing, until the operator resumes it.
 * What it has goes on: tasks that run, panoramas that are finished, logins.
 */
export type Suspension = { readonly at: Date; readonly reason: string };

/** The account is suspended. Nothing is charged. */
export type AccountSuspended = { readonly kind: "account_suspended"; readonly reason: string };

/** A customer with credits. */
export type Account = {
  readonly id: AccountId;
  readonly email: Email;
  readonly createdAt: Date;
  readonly suspension?: Suspension | undefined;
};

/** Trims and lower-cases the address. The error names the rule that it breaks. */
export const parseEmail = (text: string): Result<Email, InvalidRequest> => {
  const email = text.trim().toLowerCase();
  const hasForm = /^[^\s@\p{Cc}]+@[^\s@.\p{Cc}]+(\.[^\s@.\p{Cc}]+)*$/u.test(email) && email.isWellFormed();
  return hasForm && email.length <= EMAIL_CHARACTERS_MAX
    ? ok(email as Email)
    : err(invalidRequest("email", { name: "email", actual: text }));
};

/** Makes one from a constant. Throws for text that cannot be one: input is parsed. */
export const email = (text: string): Email =>
  valueOrThrow(parseEmail(text).unwrapOr(undefined), text, "an e-mail address");

/** Who may open an account: everybody, those whom the operator has invited, or nobody. */
export const SIGN_UP_MODES = ["open", "invited", "closed"] as const;

/** One of `SIGN_UP_MODES`. */
export type SignUpMode = (typeof SIGN_UP_MODES)[number];

/** Nobody can open an account this way now. */
export type SignUpRefused = { readonly kind: "sign_up_refused"; readonly mode: Exclude<SignUpMode, "open"> };
