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
export type PasswordMessage = {
  readonly kind: "new_password" | "sign_up" | "already_registered";
  readonly to: Email;
  readonly token: PasswordLinkToken;
};

/** An e-mail with a link that confirms its recipient as the new address of the account (accounts/links.ts). */
export type ConfirmationMessage = {
  readonly kind: "confirm_email";
  readonly to: Email;
  readonly token: PasswordLinkToken;
  readonly accountId: AccountId;
};

/**
 * An e-mail without a link: a notice to the owner of an account.
 *
 * - `password_changed`, `account_deleted`: the owner did it on the web pages, with the password.
 * - `email_changed`: sent to the old address.
 * - `email_in_use`: somebody tried to change another account to this address.
 */
export type NoticeMessage = {
  readonly kind: "password_changed" | "email_changed" | "email_in_use" | "account_deleted";
  readonly to: Email;
  readonly token?: undefined;
};

/** An e-mail about an account, or about a sign-up. */
export type EmailMessage = PasswordMessage | ConfirmationMessage | NoticeMessage;

/** Sends e-mails. */
export interface Mail {
  /**
   * Sends in the background. The promise resolves when the e-mail is stored durably. An e-mail that cannot be sent is
   * reported to the operator.
   */
  post(message: EmailMessage): Promise<void> | void;
  /**
   * Takes as long as `post` but sends nothing, so that timing does not reveal whether an address gets an e-mail. Not
   * needed if `post` returns at once.
   */
  pretend?(to: Email): Promise<void>;
}
