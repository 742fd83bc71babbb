import { err, ok, type Result } from "neverthrow";
import { type Account, type Email, parseEmail, type SignUpRefused } from "../../domain/accounts/account.js";
import {
  openPasswordLink,
  PASSWORD_LINKS_MAX,
  type PasswordLinkToken,
  parsePassword,
  parsePasswordLinkToken,
} from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import { welcomeEntry } from "../../domain/credits/ledger.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { AccountId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { SignUpSettings } from "../application-settings.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { PasswordMessage } from "../ports/mail.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { EmailTaken, LinkExpired } from "../ports/stores/account-stores.js";
import {
  type CredentialPorts,
  checkOwnPassword,
  type LoginAttempt,
  limitKeyOf,
  type OwnPassword,
  type WrongLogin,
} from "./check-credentials.js";
import { newSession, type SessionPorts } from "./sessions.js";

/** Effect of a link: sets the password of the account with this address, or opens that account with it. */
type PasswordLinkUse = { readonly email: Email; readonly opensAccount: boolean };

/** Links that were sent by e-mail and are followed. */
export function links(
  ports: SessionPorts & Pick<ApplicationPorts, "links">,
  { signUp: mode, welcomeCredits }: SignUpSettings = {},
) {
  const { accounts, clock, ids, secrets } = ports;
  return {
    /** The effect of the link with this token; `undefined` if it is invalid, used or expired. */
    async checkPasswordLink(text: string): Promise<PasswordLinkUse | undefined> {
      const email = await emailOfLink(ports, text);
      if (email === undefined) return undefined;
      const opensAccount = (await accounts.findByEmail(email)) === undefined;
      return opensAccount && mode === "closed" ? undefined : { email, opensAccount };
    },

    /**
     * Sets the password, ends the account's sessions and opens a new one. The link proves the identity, so no login is
     * needed, and a login limit that others have exhausted does not matter. Opens the account if the address has none
     * and sign-up is allowed. Every refusal leaves the link valid.
     */
    async setPasswordByLink(
      link: { readonly token: string; readonly password: string },
      signal?: AbortSignal,
    ): Promise<Result<SessionToken, InvalidRequest | LinkExpired | HashingBusy>> {
      const password = parsePassword(link.password);
      if (password.isErr()) return err(password.error);
      const email = await emailOfLink(ports, link.token);
      if (email === undefined) return err({ kind: "link_expired" });
      if (mode === "closed" && (await accounts.findByEmail(email)) === undefined) return err({ kind: "link_expired" });
      const hash = await secrets.hashPassword(password.value, signal);
      if (hash.isErr()) return err(hash.error);
      const [newAccount, now] = [ids.accountId(), clock.now()];
      const welcome = welcomeCredits ? welcomeEntry(newAccount, welcomeCredits, now) : undefined;
      const redeemed = await ports.links.redeem(
        secrets.sha256(link.token),
        { passwordHash: hash.value, newAccountId: newAccount, welcome },
        now,
      );
      if (redeemed.isErr()) return err(redeemed.error);
      const session = await newSession(ports, redeemed.value, hash.value);
      return session === undefined ? err({ kind: "link_expired" }) : ok(session);
    },

    /** The new e-mail address that this link confirms; `undefined` if the link is not valid. */
    async checkEmailLink(account: AccountId, text: string): Promise<Email | undefined> {
      const token = parsePasswordLinkToken(text);
      return token && ports.links.find(emailLinkDigest(secrets, account, token), clock.now());
    },
  };
}

/** The e-mail address of the link with this token; `undefined` if the link can no longer set a password. */
async function emailOfLink(
  { links, clock, secrets }: Pick<ApplicationPorts, "links" | "clock" | "secrets">,
  text: string,
): Promise<Email | undefined> {
  const token = parsePasswordLinkToken(text);
  return token && links.find(secrets.sha256(token), clock.now());
}

/** The account already has this address. */
export type SameEmail = { readonly kind: "same_email" };

/** Links that are sent by e-mail, and the change of an address that one confirms. */
export function mailedLinks(
  ports: SessionPorts & CredentialPorts & Pick<ApplicationPorts, "links" | "mail">,
  { signUp: mode = "open" }: SignUpSettings = {},
) {
  const { accounts, links, rateLimits, clock, ids, secrets, mail } = ports;
  return {
    /**
     * Sends an e-mail with a link that sets a password: to everybody who signs up, and to the owner of an account who
     * asks for a new password. The result, the time and what is stored are the same for addresses with and without an
     * account.
     */
    async sendPasswordLink(
      request: LoginAttempt & { readonly purpose: "sign_up" | "new_password" },
    ): Promise<Result<void, InvalidRequest | RateLimited | SignUpRefused>> {
      if (request.purpose === "sign_up" && mode !== "open") return err({ kind: "sign_up_refused", mode });
      const email = parseEmail(request.email);
      if (email.isErr()) return err(email.error);
      const admitted = await rateLimits.admit(limitKeyOf(secrets, `address ${request.remoteAddress}`), "mail");
      if (admitted.isErr()) return err(admitted.error);
      const to = email.value;
      const token = ids.passwordLinkToken();
      const now = clock.now();
      const stored = await links.insert(openPasswordLink(to, secrets.sha256(token), now), now, PASSWORD_LINKS_MAX);
      const kind = messageFor(request.purpose, (await accounts.findByEmail(to)) !== undefined);
      if (stored) await (kind === undefined ? mail.pretend?.(to) : mail.post({ kind, to, token }));
      return ok(undefined);
    },

    /**
     * Sends a confirmation link to the new address of an account, after a password check. Nothing changes until the
     * link is followed (`confirmEmail`). An address that has an account gets a notice without a link. Result, time and
     * stored rows are the same in both cases.
     */
    async sendEmailLink(
      account: Account,
      { email, ...own }: OwnPassword & { readonly email: string },
      signal?: AbortSignal,
    ): Promise<Result<void, InvalidRequest | SameEmail | WrongLogin | RateLimited | HashingBusy>> {
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
    },

    /** Changes the address of an account with a link that was sent to the new one, and notifies the old one. */
    async confirmEmail(account: AccountId, text: string): Promise<Result<void, LinkExpired | EmailTaken>> {
      const token = parsePasswordLinkToken(text);
      if (token === undefined) return err({ kind: "link_expired" });
      const changed = await links.confirmEmail(emailLinkDigest(secrets, account, token), account, clock.now());
      if (changed.isErr()) return err(changed.error);
      await mail.post({ kind: "email_changed", to: changed.value });
      return ok(undefined);
    },
  };
}

function messageFor(purpose: "sign_up" | "new_password", hasAccount: boolean): PasswordMessage["kind"] | undefined {
  if (purpose === "sign_up") return hasAccount ? "already_registered" : "sign_up";
  return hasAccount ? "new_password" : undefined;
}

/**
 * Digest of a link that changes the e-mail address of this account. It includes the purpose, so a password link cannot
 * be used instead, and the account, so the link of another account cannot be used.
 */
export function emailLinkDigest(
  secrets: Pick<Secrets, "sha256">,
  account: AccountId,
  token: PasswordLinkToken,
): string {
  return secrets.sha256(`e-mail of ${account} ${token}`);
}
