import { err, ok, type Result } from "neverthrow";
import { type Account, type Email, parseEmail } from "../../domain/accounts/account.js";
import {
  openPasswordLink,
  PASSWORD_LINKS_MAX,
  type PasswordLinkToken,
  parsePasswordLinkToken,
} from "../../domain/accounts/password.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { AccountId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Mail } from "../ports/mail.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { EmailTaken, LinkExpired, PasswordLinkStore } from "../ports/stores/account-stores.js";
import {
  type CredentialsPorts,
  checkOwnPassword,
  limitKeyOf,
  type OwnPassword,
  type WrongLogin,
} from "./check-credentials.js";

type Ports = CredentialsPorts & {
  readonly links: Pick<PasswordLinkStore, "insert">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "passwordLinkToken">;
  readonly mail: Mail;
};

/** The account already has this address. */
export type SameEmail = { readonly kind: "same_email" };

/**
 * Sends a confirmation link to the new address of an account, after a password check. Nothing changes until the link is
 * followed (`confirmEmail`). An address that has an account gets a notice without a link. Result, time and stored rows
 * are the same in both cases.
 */
export const sendEmailLink =
  (ports: Ports) =>
  async (
    account: Account,
    { email, ...own }: OwnPassword & { readonly email: string },
    signal?: AbortSignal,
  ): Promise<Result<void, InvalidRequest | SameEmail | WrongLogin | RateLimited | HashingBusy>> => {
    const { accounts, links, rateLimits, clock, ids, secrets, mail } = ports;
    const parsed = parseEmail(email);
    if (parsed.isErr()) return err(parsed.error);
    const to = parsed.value;
    if (to === account.email) return err({ kind: "same_email" });
    const proof = await checkOwnPassword(ports, account, own, signal);
    if (proof.isErr()) return err(proof.error);
    const admitted = await rateLimits.admit(limitKeyOf(secrets, `address ${own.remoteAddress}`), "mail");
    if (admitted.isErr()) return err(admitted.error);
    const token = ids.passwordLinkToken();
    const now = clock.now();
    const link = openPasswordLink(to, emailLinkDigest(secrets, account.id, token), now);
    const stored = await links.insert(link, now, PASSWORD_LINKS_MAX);
    const isTaken = (await accounts.findByEmail(to)) !== undefined;
    if (stored) {
      await mail.post(
        isTaken ? { kind: "email_in_use", to } : { kind: "confirm_email", to, token, accountId: account.id },
      );
    }
    return ok(undefined);
  };

type LinkPorts = { readonly clock: Pick<Clock, "now">; readonly secrets: Pick<Secrets, "sha256"> };

/** The new e-mail address that this link confirms; `undefined` if the link is not valid. */
export const checkEmailLink =
  ({ links, clock, secrets }: LinkPorts & { readonly links: Pick<PasswordLinkStore, "find"> }) =>
  async (account: AccountId, text: string): Promise<Email | undefined> => {
    const token = parsePasswordLinkToken(text);
    return token && links.find(emailLinkDigest(secrets, account, token), clock.now());
  };

/** Changes the address of an account with a link that was sent to the new one, and notifies the old one. */
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

/**
 * Digest of a link that changes the e-mail address of this account. It includes the purpose, so a password link cannot
 * be used instead, and the account, so the link of another account cannot be used.
 */
export const emailLinkDigest = (
  { sha256 }: Pick<Secrets, "sha256">,
  account: AccountId,
  token: PasswordLinkToken,
): string => sha256(`e-mail of ${account} ${token}`);
