import { err, ok, type Result } from "neverthrow";
import { type AccountId, parseEmail } from "../../domain/account.js";
import type { RateLimited } from "../../domain/rate-limit.js";
import { openSession, type SessionToken } from "../../domain/session.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Secrets } from "../ports/secrets.js";
import type { SessionStore } from "../ports/session-store.js";
import { admitLoginAttempt, type LoginAttempt, type LoginThrottlePorts } from "./admit-login-attempt.js";

/** A wrong password, an account without a password and an unknown e-mail address give the same error. */
export type WrongLogin = { readonly kind: "wrong_login" };

type Ports = Pick<LoginThrottlePorts, "rateLimits"> & {
  readonly accounts: Pick<AccountStore, "findByEmail">;
  readonly sessions: Pick<SessionStore, "insert" | "deleteExpired">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "sessionToken">;
  readonly secrets: Pick<Secrets, "sha256" | "verifyPassword">;
};

export type Credentials = LoginAttempt & { readonly password: string };

export type LogIn = ReturnType<typeof logIn>;

/** Opens a session for the right password. Takes the same time for an unknown e-mail address as for a known one. */
export const logIn =
  (ports: Ports) =>
  async (credentials: Credentials): Promise<Result<SessionToken, WrongLogin | RateLimited>> => {
    const admitted = await admitLoginAttempt(ports, credentials);
    if (admitted.isErr()) return err(admitted.error);
    const email = parseEmail(credentials.email);
    const found = email.isOk() ? await ports.accounts.findByEmail(email.value) : undefined;
    const right = await ports.secrets.verifyPassword(credentials.password, found?.passwordHash);
    if (!right || found === undefined) return err({ kind: "wrong_login" });
    return ok(await newSession(ports, found.account.id));
  };

const newSession = async ({ sessions, clock, ids, secrets }: Ports, accountId: AccountId): Promise<SessionToken> => {
  const token = ids.sessionToken();
  const now = clock.now();
  await sessions.deleteExpired(now);
  await sessions.insert(openSession(accountId, secrets.sha256(token), now));
  return token;
};
