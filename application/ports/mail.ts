import type { Email } from "../../domain/accounts/account.js";
import type { PasswordLinkToken } from "../../domain/accounts/password-link.js";

/**
 * An e-mail with a link to the page that sets a password.
 *
 * - `new_password`: the owner of an account asked for a new password.
 * - `sign_up`: the address has no account; the link opens it.
 * - `already_registered`: somebody signed up with an address that has an account.
 */
export type Letter = {
  readonly kind: "new_password" | "sign_up" | "already_registered";
  readonly to: Email;
  readonly token: PasswordLinkToken;
};

/** Sends e-mails. */
export interface Mail {
  /**
   * Sends in the background, and returns at once, or a promise that resolves when no crash can lose the letter. One that
   * cannot be sent is reported to the operator.
   */
  post(letter: Letter): Promise<void> | void;
  /**
   * For an address that gets no letter: takes as long as `post`, so that the time of an answer does not tell whether an
   * e-mail is sent. Not needed if `post` returns at once.
   */
  pretend?(to: Email): Promise<void>;
}
