import { err, ok, type Result } from "neverthrow";
import { type AccountId, type Brand, valueOrThrow } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";

/** An e-mail address in lower case, so that each address has one spelling. */
export type Email = Brand<string, "Email">;

/** Maximum length of an address, in characters. */
export const EMAIL_CHARACTERS_MAX = 254;

/**
 * The account is suspended by an operator: its keys are refused and it cannot create, until the operator resumes it.
 * Running tasks, finished panoramas and logins stay.
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

/** Trims and lower-cases the address. The error names the broken rule. */
export const parseEmail = (text: string): Result<Email, InvalidRequest> => {
  const email = text.trim().toLowerCase();
  const hasForm = /^[^\s@\p{Cc}]+@[^\s@.\p{Cc}]+(\.[^\s@.\p{Cc}]+)*$/u.test(email) && email.isWellFormed();
  return hasForm && email.length <= EMAIL_CHARACTERS_MAX
    ? ok(email as Email)
    : err(invalidRequest("email", { name: "email", actual: text }));
};

/** Creates an `Email` from a constant. Throws if it is invalid; parse input instead. */
export const email = (text: string): Email =>
  valueOrThrow(parseEmail(text).unwrapOr(undefined), text, "an e-mail address");

/** Sign-up modes: everybody, people invited by the operator, nobody. */
export const SIGN_UP_MODES = ["open", "invited", "closed"] as const;

/** One of `SIGN_UP_MODES`. */
export type SignUpMode = (typeof SIGN_UP_MODES)[number];

/** Sign-up is closed, or needs an invitation. */
export type SignUpRefused = { readonly kind: "sign_up_refused"; readonly mode: Exclude<SignUpMode, "open"> };
