import type { NoticeMessage } from "../../application/ports/mail.js";
import type { PostedMessage } from "../../application/ports/stores/email-outbox.js";
import { INVITATION_SECONDS, PASSWORD_LINK_SECONDS, type PasswordLinkToken } from "../../domain/accounts/password.js";

export type Message = { readonly subject: string; readonly text: string };

/** An e-mail with the secret of its link, or without a link. */
export type SentMessage =
  | (PostedMessage & { readonly kind: LinkedKind; readonly token: PasswordLinkToken })
  | (PostedMessage & { readonly kind: UnlinkedKind });
/** An e-mail that has a link. */
export type LinkedKind = Exclude<PostedMessage["kind"], UnlinkedKind | "none">;
/** An e-mail that has no link. */
export type UnlinkedKind = NoticeMessage["kind"] | "pending_order";

const UNLINKED: ReadonlySet<PostedMessage["kind"]> = new Set([
  "password_changed",
  "email_changed",
  "email_in_use",
  "account_deleted",
  "pending_order",
] satisfies UnlinkedKind[]);

/** True if e-mails of this kind have no link. */
export const isUnlinked = (kind: LinkedKind | UnlinkedKind): kind is UnlinkedKind => UNLINKED.has(kind);

/** The address of the page that sets a password (adapters/web/account/password-pages.ts). */
export const passwordLinkUrl = (publicUrl: string, token: PasswordLinkToken): string =>
  `${publicUrl}/password/reset?token=${token}`;

/** The address of the page that confirms an address (adapters/web/account/settings-pages.ts). */
export const emailLinkUrl = (publicUrl: string, token: PasswordLinkToken): string =>
  `${publicUrl}/account/email?token=${token}`;

/** The text of an e-mail. It contains nothing that a stranger could have written. */
export function messageOf(message: SentMessage, publicUrl: string, siteName: string | undefined): Message {
  const place = siteName === undefined ? publicUrl : `${siteName} (${publicUrl})`;
  const { subject, text } =
    "token" in message ? linkMessage(message, publicUrl, place) : notice(message, publicUrl, place);
  return { subject: siteName === undefined ? subject : `${siteName}: ${subject}`, text };
}

/** `place`: what the text calls the service. */
const notice = (
  { kind, id }: { readonly kind: UnlinkedKind; readonly id: string },
  publicUrl: string,
  place: string,
): Message => {
  const otherwise = `If it was not you, set a new password at once: ${publicUrl}/password/forgot`;
  switch (kind) {
    case "pending_order":
      return {
        subject: "An order waits for its payment",
        text: lines(
          `A customer of ${place} has placed the order ${id}.`,
          `When the money has arrived: panorama order pay --order ${id}`,
          "All orders that wait: panorama order list --pending",
        ),
      };
    case "password_changed":
      return {
        subject: "Your password was changed",
        text: lines(`The password of your account at ${place} was changed, and all its sessions ended.`, otherwise),
      };
    case "email_changed":
      return {
        subject: "Your e-mail address was changed",
        text: lines(
          `Your account at ${place} has another e-mail address now. Log in with that one from now on.`,
          "If it was not you, tell the operator of the service at once: this address can no longer set a password.",
        ),
      };
    case "email_in_use":
      return {
        subject: "This address already has an account",
        text: lines(
          `The owner of another account at ${place} wants to use this e-mail address, which already has an account.`,
          "Nothing has changed. To use the address for the other account, change the address of this one first.",
          "If it was not you, ignore this e-mail.",
        ),
      };
    case "account_deleted":
      return {
        subject: "Your account is deleted",
        text: lines(
          `Your account at ${place} is deleted, as you have asked for, and its panoramas are being deleted.`,
          "If it was not you, tell the operator of the service.",
        ),
      };
  }
};

const linkMessage = (
  message: SentMessage & { readonly kind: LinkedKind },
  publicUrl: string,
  place: string,
): Message => {
  const minutes = PASSWORD_LINK_SECONDS / 60;
  const validity = `The link works once, within ${minutes} minutes.`;
  if (message.kind === "confirm_email") {
    return {
      subject: "Confirm your new e-mail address",
      text: lines(
        `The owner of an account at ${place} wants to use this e-mail address for it.`,
        "If it is your account, follow this link, and log in if you are asked to:",
        emailLinkUrl(publicUrl, message.token),
        validity,
        "If it was not you, ignore this e-mail. Nothing has changed.",
      ),
    };
  }
  const link = passwordLinkUrl(publicUrl, message.token);
  switch (message.kind) {
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
