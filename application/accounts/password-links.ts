import { err, ok, type Result } from "neverthrow";
import { type Email, parseEmail, type SignUpRefused } from "../../domain/accounts/account.js";
import {
  openPasswordLink,
  PASSWORD_LINKS_MAX,
  parsePassword,
  parsePasswordLinkToken,
} from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import { welcomeEntry } from "../../domain/credits/ledger.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { ApplicationSettings } from "../application-settings.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Mail, PasswordLetter } from "../ports/mail.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { AccountStore, LinkExpired, PasswordLinkStore } from "../ports/stores/account-stores.js";
import { type LoginAttempt, type LoginThrottlePorts, limitKeyOf } from "./check-credentials.js";
import { type NewSessionPorts, newSession } from "./sessions.js";

type SendPasswordLinkPorts = LoginThrottlePorts & {
  readonly accounts: Pick<AccountStore, "findByEmail">;
  readonly links: Pick<PasswordLinkStore, "insert">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "passwordLinkToken">;
  readonly mail: Mail;
};

/**
 * Sends an e-mail with a link that sets a password: to everybody who signs up, and to the owner of an account who asks
 * for a new password. The result, the time and what is stored are the same for addresses with and without an account.
 */
export const sendPasswordLink =
  (
    { accounts, links, rateLimits, clock, ids, secrets, mail }: SendPasswordLinkPorts,
    { signUp: mode = "open" }: Pick<ApplicationSettings, "signUp"> = {},
  ) =>
  async (
    request: LoginAttempt & { readonly purpose: "sign_up" | "new_password" },
  ): Promise<Result<void, InvalidRequest | RateLimited | SignUpRefused>> => {
    if (request.purpose === "sign_up" && mode !== "open") return err({ kind: "sign_up_refused", mode });
    const email = parseEmail(request.email);
    if (email.isErr()) return err(email.error);
    const admitted = await rateLimits.admit(limitKeyOf(secrets, `address ${request.remoteAddress}`), "mail");
    if (admitted.isErr()) return err(admitted.error);
    const to = email.value;
    const token = ids.passwordLinkToken();
    const now = clock.now();
    const stored = await links.insert(openPasswordLink(to, secrets.sha256(token), now), now, PASSWORD_LINKS_MAX);
    const kind = letterFor(request.purpose, (await accounts.findByEmail(to)) !== undefined);
    if (stored) await (kind === undefined ? mail.pretend?.(to) : mail.post({ kind, to, token }));
    return ok(undefined);
  };

const letterFor = (purpose: "sign_up" | "new_password", hasAccount: boolean): PasswordLetter["kind"] | undefined => {
  if (purpose === "sign_up") return hasAccount ? "already_registered" : "sign_up";
  return hasAccount ? "new_password" : undefined;
};

type LinkPorts = {
  readonly links: Pick<PasswordLinkStore, "find">;
  readonly clock: Pick<Clock, "now">;
  readonly secrets: Pick<Secrets, "sha256">;
};

type CheckPasswordLinkPorts = LinkPorts & { readonly accounts: Pick<AccountStore, "findByEmail"> };

/** Effect of a link: sets the password of the account with this address, or opens that account with it. */
type PasswordLinkUse = { readonly email: Email; readonly opensAccount: boolean };

/** The effect of the link with this token; `undefined` if it is invalid, used or expired. */
export const checkPasswordLink =
  (ports: CheckPasswordLinkPorts, { signUp: mode }: Pick<ApplicationSettings, "signUp"> = {}) =>
  async (text: string): Promise<PasswordLinkUse | undefined> => {
    const email = await emailOfLink(ports, text);
    if (email === undefined) return undefined;
    const opensAccount = (await ports.accounts.findByEmail(email)) === undefined;
    return opensAccount && mode === "closed" ? undefined : { email, opensAccount };
  };

/** The e-mail address of the link with this token; `undefined` if the link can no longer set a password. */
const emailOfLink = async ({ links, clock, secrets }: LinkPorts, text: string): Promise<Email | undefined> => {
  const token = parsePasswordLinkToken(text);
  return token && links.find(secrets.sha256(token), clock.now());
};

type SetPasswordByLinkPorts = NewSessionPorts & {
  readonly accounts: Pick<AccountStore, "findByEmail">;
  readonly links: Pick<PasswordLinkStore, "find" | "redeem">;
  readonly ids: Pick<Ids, "accountId">;
  readonly secrets: Pick<Secrets, "hashPassword">;
};

/**
 * Sets the password, ends the account's sessions and opens a new one. The link proves the identity, so no login is
 * needed, and a login limit that others have exhausted does not matter. Opens the account if the address has none and
 * sign-up is allowed. Every refusal leaves the link valid.
 */
export const setPasswordByLink =
  (
    ports: SetPasswordByLinkPorts,
    { signUp: mode, welcomeCredits }: Pick<ApplicationSettings, "signUp" | "welcomeCredits"> = {},
  ) =>
  async (
    link: { readonly token: string; readonly password: string },
    signal?: AbortSignal,
  ): Promise<Result<SessionToken, InvalidRequest | LinkExpired | HashingBusy>> => {
    const { accounts, links, clock, ids, secrets } = ports;
    const password = parsePassword(link.password);
    if (password.isErr()) return err(password.error);
    const email = await emailOfLink(ports, link.token);
    if (email === undefined) return err({ kind: "link_expired" });
    if (mode === "closed" && (await accounts.findByEmail(email)) === undefined) return err({ kind: "link_expired" });
    const hash = await secrets.hashPassword(password.value, signal);
    if (hash.isErr()) return err(hash.error);
    const [newAccount, now] = [ids.accountId(), clock.now()];
    const welcome = welcomeCredits ? welcomeEntry(newAccount, welcomeCredits, now) : undefined;
    const redeemed = await links.redeem(
      secrets.sha256(link.token),
      { passwordHash: hash.value, newAccountId: newAccount, welcome },
      now,
    );
    if (redeemed.isErr()) return err(redeemed.error);
    const session = await newSession(ports, redeemed.value, hash.value);
    return session === undefined ? err({ kind: "link_expired" }) : ok(session);
  };
