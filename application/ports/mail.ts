import type { Email } from "../../domain/accounts/account.js";
import type { PasswordLinkToken } from "../../domain/accounts/password.js";
import type { AccountId } from "../../domain/ids.js";

/**
 * An e-mail with a link to the page that sets a password.
 *
 * - `new_password`: the owner of an account asked for a new password.
 * - `sign_up`: the address has no account; the link opens it.
 * - `already_registered`: somebody signed up with an address that has an account.
 */
export type PasswordLetter = {
  readonly kind: "new_password" | "sign_up" | "already_registered";
  readonly to: Email;
  readonly token: PasswordLinkToken;
};

/** An e-mail with a link that makes its address that of the account (accounts/email-address.ts). */
export type EmailLetter = {
  readonly kind: "confirm_email";
  readonly to: Email;
  readonly token: PasswordLinkToken;
  readonly accountId: AccountId;
};

/**
 * An e-mail without a link, which tells the owner of an account what has happened to it.
 *
 * - `password_changed`, `account_deleted`: on the web pages, with the password.
 * - `email_changed`: to the address that the account had.
 * - `email_in_use`: another account wants the address, which has this one.
 */
export type NoticeLetter = {
  readonly kind: "password_changed" | "email_changed" | "email_in_use" | "account_deleted";
  readonly to: Email;
  readonly token?: undefined;
};

/** An e-mail to the owner of an account, or to who wants one. */
export type Letter = PasswordLetter | EmailLetter | NoticeLetter;

/** Sends e-mails. */
export interface Mail {
  /**
   * Sends in the background. Returns at once, or a promise that resolves when no crash can lose the letter. A letter
   * that cannot be sent is reported to the operator.
   */
  post(letter: Letter): Promise<void> | void;
  /**
   * For an address that gets no letter: takes as long as `post`, so that the time of an answer does not tell whether an
   * e-mail is sent. Not needed if `post` returns at once.
   */
  pretend?(to: Email): Promise<void>;
}
