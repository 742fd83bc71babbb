import { err, ok, type Result } from "neverthrow";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { parsePassword } from "../../domain/password.js";
import type { SessionToken } from "../../domain/session.js";
import type { Ids } from "../ports/ids.js";
import type { LinkExpired, PasswordLinkStore } from "../ports/password-link-store.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import { checkPasswordLink } from "./check-password-link.js";
import { type NewSessionPorts, newSession } from "./new-session.js";

type Ports = NewSessionPorts & {
  readonly links: Pick<PasswordLinkStore, "find" | "redeem">;
  readonly ids: Pick<Ids, "accountId">;
  readonly secrets: Pick<Secrets, "hashPassword">;
};

/** What `setPasswordByLink` returns. */
export type SetPasswordByLink = ReturnType<typeof setPasswordByLink>;

/**
 * Sets the password of the account, ends its sessions, and opens a new one: the link proves who the user is, so a login
 * that others have used up the attempts of is not needed. Opens the account if the address has none. Every refusal leaves
 * the link valid.
 */
export const setPasswordByLink =
  (ports: Ports) =>
  async (
    link: { readonly token: string; readonly password: string },
    signal?: AbortSignal,
  ): Promise<Result<SessionToken, InvalidRequest | LinkExpired | HashingBusy>> => {
    const { links, clock, ids, secrets } = ports;
    const password = parsePassword(link.password);
    if (password.isErr()) return err(password.error);
    if (!(await checkPasswordLink(ports)(link.token))) return err({ kind: "link_expired" });
    const hash = await secrets.hashPassword(password.value, signal);
    if (hash.isErr()) return err(hash.error);
    const redeemed = await links.redeem(secrets.sha256(link.token), hash.value, ids.accountId(), clock.now());
    if (redeemed.isErr()) return err(redeemed.error);
    const session = await newSession(ports, redeemed.value, hash.value);
    return session === undefined ? err({ kind: "link_expired" }) : ok(session);
  };
