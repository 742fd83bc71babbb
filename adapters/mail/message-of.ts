import type { PostedLetter } from "../../application/ports/stores/letter-outbox.js";
import {
  INVITATION_SECONDS,
  PASSWORD_LINK_SECONDS,
  type PasswordLinkToken,
} from "../../domain/accounts/password-link.js";

export type Message = { readonly subject: string; readonly text: string };

/** A letter with the secret of its link, or without a link. */
export type SentLetter =
  | (PostedLetter & { readonly kind: LinkedKind; readonly token: PasswordLinkToken })
  | (PostedLetter & { readonly kind: "pending_order" });
/** A letter that has a link. */
export type LinkedKind = Exclude<PostedLetter["kind"], "pending_order" | "none">;

/** The address of the page that sets a password (adapters/web/account/password-pages.ts). */
export const passwordLinkUrl = (publicUrl: string, token: PasswordLinkToken): string =>
  `${publicUrl}/password/reset?token=${token}`;

/** The text of a letter. It contains nothing that a stranger could have written. */
export const messageOf = (letter: SentLetter, publicUrl: string, siteName: string | undefined): Message => {
  const { subject, text } = textOf(
    letter,
    publicUrl,
    siteName === undefined ? publicUrl : `${siteName} (${publicUrl})`,
  );
  return { subject: siteName === undefined ? subject : `${siteName}: ${subject}`, text };
};

/** `place`: what the text calls the service. */
const textOf = (letter: SentLetter, publicUrl: string, place: string): Message => {
  if (letter.kind === "pending_order") {
    return {
      subject: "An order waits for its payment",
      text: lines(
        `A customer of ${place} has placed the order ${letter.id}.`,
        `When the money has arrived: panorama order pay --order ${letter.id}`,
        `All orders that wait: panorama order list --pending, or ${publicUrl}/operator`,
      ),
    };
  }
  const link = passwordLinkUrl(publicUrl, letter.token);
  const minutes = PASSWORD_LINK_SECONDS / 60;
  const validity = `The link works once, within ${minutes} minutes.`;
  switch (letter.kind) {
    case "sign_up":
      return {
        subject: "Confirm your e-mail address",
        text: lines(
          `Somebody signed up at ${place} with this e-mail address.`,
          "To open the account, follow this link and choose a password:",
          link,
          validity,
          "If it was not you, ignore this e-mail. Without the link no account is opened.",
        ),
      };
    case "already_registered":
      return {
        subject: "You already have an account",
        text: lines(
          `Somebody signed up at ${place} with this e-mail address, which already has an account.`,
          `Log in at ${publicUrl}/login. If you have forgotten the password, follow this link to set a new one:`,
          link,
          validity,
          "If it was not you, ignore this e-mail. Nothing has changed.",
        ),
      };
    case "invitation":
      return {
        subject: "You are invited",
        text: lines(
          `You are invited to open an account at ${place}.`,
          "To open it, follow this link and choose a password:",
          link,
          `The link works once, within ${INVITATION_SECONDS / DAY_SECONDS} days.`,
          "If you do not want an account, ignore this e-mail.",
        ),
      };
    case "new_password":
      return {
        subject: "Set a new password",
        text: lines(
          `Somebody asked for a new password for your account at ${place}.`,
          "To set one, follow this link:",
          link,
          validity,
          "If it was not you, ignore this e-mail. Your password has not changed.",
        ),
      };
  }
};

const DAY_SECONDS = 24 * 60 * 60;

const lines = (...paragraphs: readonly string[]): string => `${paragraphs.join("\n\n")}\n`;
