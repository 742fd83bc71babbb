import { err, ok, type Result } from "neverthrow";
import { parseEmail } from "../../domain/accounts/account.js";
import { mayBePassword } from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { AccountStore } from "../ports/stores/account-store.js";
import { admitLoginAttempt, type LoginAttempt, type LoginThrottlePorts } from "./admit-login-attempt.js";
import { type NewSessionPorts, newSession } from "./new-session.js";

/** A wrong password, an account without a password and an unknown e-mail address give the same error. */
export type WrongLogin = { readonly kind: "wrong_login" };

type Ports = Pick<LoginThrottlePorts, "rateLimits"> &
  NewSessionPorts & {
    readonly accounts: Pick<AccountStore, "findByEmail">;
    readonly secrets: Pick<Secrets, "sha256" | "verifyPassword">;
  };

/** An attempt to log in with a password. */
export type Credentials = LoginAttempt & { readonly password: string };

/**
 * Opens a session for the right password. Takes the same time for an unknown e-mail address as for a known one. Stops
 * waiting for its turn to hash when `signal` is aborted.
 */
export const logIn =
  (ports: Ports) =>
  async (
    credentials: Credentials,
    signal?: AbortSignal,
  ): Promise<Result<SessionToken, WrongLogin | RateLimited | HashingBusy>> => {
    const admitted = await admitLoginAttempt(ports, credentials);
    if (admitted.isErr()) return err(admitted.error);
    if (!mayBePassword(credentials.password)) return err({ kind: "wrong_login" });
    const email = parseEmail(credentials.email);
    const found = email.isOk() ? await ports.accounts.findByEmail(email.value) : undefined;
    const right = await ports.secrets.verifyPassword(credentials.password, found?.passwordHash, signal);
    if (right.isErr()) return err(right.error);
    if (!right.value || found?.passwordHash === undefined) return err({ kind: "wrong_login" });
    const token = await newSession(ports, found.account.id, found.passwordHash);
    return token === undefined ? err({ kind: "wrong_login" }) : ok(token);
  };
