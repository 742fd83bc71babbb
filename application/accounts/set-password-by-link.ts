import { err, ok, type Result } from "neverthrow";
import { parsePassword } from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import { welcomeEntry } from "../../domain/credits/ledger.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { ApplicationSettings } from "../application-settings.js";
import type { Ids } from "../ports/ids.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { LinkExpired, PasswordLinkStore } from "../ports/stores/accounts/password-link-store.js";
import { emailOfLink } from "./check-password-link.js";
import { type NewSessionPorts, newSession } from "./sessions/new-session.js";

type Ports = NewSessionPorts & {
  readonly accounts: Pick<AccountStore, "findByEmail">;
  readonly links: Pick<PasswordLinkStore, "find" | "redeem">;
  readonly ids: Pick<Ids, "accountId">;
  readonly secrets: Pick<Secrets, "hashPassword">;
};

/**
 * Sets the password of the account, ends its sessions, and opens a new one: the link proves who the user is. No login
 * is needed, whose attempts others may have used up. Opens the account if the address has none, unless nobody may sign
 * up. Every refusal leaves the link valid.
 */
export const setPasswordByLink =
  (
    ports: Ports,
    { signUp: mode = "open", welcomeCredits }: Pick<ApplicationSettings, "signUp" | "welcomeCredits"> = {},
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
