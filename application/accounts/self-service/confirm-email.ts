import { err, ok, type Result } from "neverthrow";
import type { Email } from "../../../domain/accounts/account.js";
import { parsePasswordLinkToken } from "../../../domain/accounts/password.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Clock } from "../../ports/clock.js";
import type { Mail } from "../../ports/mail.js";
import type { Secrets } from "../../ports/secrets.js";
import type { EmailTaken } from "../../ports/stores/accounts/account-store.js";
import type { LinkExpired, PasswordLinkStore } from "../../ports/stores/accounts/password-link-store.js";
import { emailLinkDigest } from "./email-link-digest.js";

type LinkPorts = { readonly clock: Pick<Clock, "now">; readonly secrets: Pick<Secrets, "sha256"> };

/** The address to which the link with this token changes that of the account; `undefined` if it does not. */
export const checkEmailLink =
  ({ links, clock, secrets }: LinkPorts & { readonly links: Pick<PasswordLinkStore, "find"> }) =>
  async (account: AccountId, text: string): Promise<Email | undefined> => {
    const token = parsePasswordLinkToken(text);
    return token && links.find(emailLinkDigest(secrets, account, token), clock.now());
  };

/** Changes the address of an account with a link that was sent to the new one, and tells the old one. */
export const confirmEmail =
  ({
    links,
    clock,
    secrets,
    mail,
  }: LinkPorts & { readonly links: Pick<PasswordLinkStore, "confirmEmail">; readonly mail: Mail }) =>
  async (account: AccountId, text: string): Promise<Result<void, LinkExpired | EmailTaken>> => {
    const token = parsePasswordLinkToken(text);
    if (token === undefined) return err({ kind: "link_expired" });
    const changed = await links.confirmEmail(emailLinkDigest(secrets, account, token), account, clock.now());
    if (changed.isErr()) return err(changed.error);
    await mail.post({ kind: "email_changed", to: changed.value });
    return ok(undefined);
  };
