import { err, ok, type Result } from "neverthrow";
import { parseEmail, type SignUpRefused } from "../../domain/accounts/account.js";
import { openPasswordLink, PASSWORD_LINKS_MAX } from "../../domain/accounts/password.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { ApplicationSettings } from "../application-settings.js";
import { partyNamed } from "../party-named.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Mail, PasswordLetter } from "../ports/mail.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { PasswordLinkStore } from "../ports/stores/accounts/password-link-store.js";
import type { LoginAttempt, LoginThrottlePorts } from "./admit-login-attempt.js";

type Ports = LoginThrottlePorts & {
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
    { accounts, links, rateLimits, clock, ids, secrets, mail }: Ports,
    { signUp: mode = "open" }: Pick<ApplicationSettings, "signUp"> = {},
  ) =>
  async (
    request: LoginAttempt & { readonly purpose: "sign_up" | "new_password" },
  ): Promise<Result<void, InvalidRequest | RateLimited | SignUpRefused>> => {
    if (request.purpose === "sign_up" && mode !== "open") return err({ kind: "sign_up_refused", mode });
    const email = parseEmail(request.email);
    if (email.isErr()) return err(email.error);
    const admitted = await rateLimits.admit(partyNamed(secrets, `address ${request.remoteAddress}`), "mail");
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
