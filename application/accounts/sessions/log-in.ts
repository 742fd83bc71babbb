import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../../domain/account-id.js";
import { parseEmail } from "../../../domain/accounts/account.js";
import { mayBePassword } from "../../../domain/accounts/password.js";
import type { SessionToken } from "../../../domain/accounts/session.js";
import type { RateLimited } from "../../../domain/credits/rate-limit.js";
import type { LoginFailure, Reporter } from "../../ports/reporter.js";
import type { HashingBusy, Secrets } from "../../ports/secrets.js";
import type { AccountStore } from "../../ports/stores/accounts/account-store.js";
import { admitLoginAttempt, type LoginAttempt, type LoginThrottlePorts } from "../admit-login-attempt.js";
import { type NewSessionPorts, newSession } from "./new-session.js";

/** A wrong password, an account without a password and an unknown e-mail address give the same error. */
export type WrongLogin = { readonly kind: "wrong_login" };

type Ports = Pick<LoginThrottlePorts, "rateLimits"> &
  NewSessionPorts & {
    readonly accounts: Pick<AccountStore, "findByEmail">;
    readonly secrets: Pick<Secrets, "sha256" | "verifyPassword">;
    readonly reporter: Pick<Reporter, "report">;
  };

const WRONG: WrongLogin = { kind: "wrong_login" };

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
    const { remoteAddress: network } = credentials;
    const refuse = <Refusal>(refusal: Refusal, reason: LoginFailure, accountId?: AccountId): Result<never, Refusal> => {
      ports.reporter.report({ kind: "login_failed", of: "account", reason, network, accountId });
      return err(refusal);
    };
    const admitted = await admitLoginAttempt(ports, credentials);
    if (admitted.isErr()) return refuse(admitted.error, "rate_limited");
    if (!mayBePassword(credentials.password)) return refuse(WRONG, "wrong_password");
    const email = parseEmail(credentials.email);
    const found = email.isOk() ? await ports.accounts.findByEmail(email.value) : undefined;
    const right = await ports.secrets.verifyPassword(credentials.password, found?.passwordHash, signal);
    if (right.isErr()) return refuse(right.error, "hashing_busy");
    if (found === undefined) return refuse(WRONG, "unknown_address");
    const { id } = found.account;
    if (found.passwordHash === undefined) return refuse(WRONG, "no_password", id);
    if (!right.value) return refuse(WRONG, "wrong_password", id);
    const token = await newSession(ports, id, found.passwordHash);
    return token === undefined ? refuse(WRONG, "wrong_password", id) : ok(token);
  };
