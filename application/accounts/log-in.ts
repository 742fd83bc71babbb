import { err, ok, type Result } from "neverthrow";
import { type AccountId, parseEmail } from "../../domain/account.js";
import type { RateLimited } from "../../domain/rate-limit.js";
import { openSession, type SessionToken } from "../../domain/session.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { RateLimitedParty, RateLimits } from "../ports/rate-limits.js";
import type { Secrets } from "../ports/secrets.js";
import type { SessionStore } from "../ports/session-store.js";

/** Wrong password, no password set, no such account: not told apart. */
export type WrongLogin = { readonly kind: "wrong_login" };

type ThrottlePorts = { readonly rateLimits: RateLimits; readonly secrets: Secrets };

type Ports = ThrottlePorts & {
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
  readonly clock: Clock;
  readonly ids: Ids;
};

export type Credentials = {
  readonly email: string;
  readonly password: string;
  /** The network address that the attempt comes from. */
  readonly remoteAddress: string;
};

export type LogIn = ReturnType<typeof logIn>;

/** Opens a session for the right password. Takes as long, and says as little, for an unknown address as for a known one. */
export const logIn =
  (ports: Ports) =>
  async (credentials: Credentials): Promise<Result<SessionToken, WrongLogin | RateLimited>> => {
    const admitted = await admitAttempt(ports, credentials);
    if (admitted.isErr()) return err(admitted.error);
    const email = parseEmail(credentials.email);
    const found = email.isOk() ? await ports.accounts.findByEmail(email.value) : undefined;
    const right = await ports.secrets.verifyPassword(credentials.password, found?.passwordHash);
    if (!right || found === undefined) return err({ kind: "wrong_login" });
    return ok(await newSession(ports, found.account.id));
  };

/** 128 bits of the digest: as good as the name itself, and no longer than an id. */
const PARTY_DIGITS = 32;

/** Counts an attempt against its e-mail address and its network address: neither may guess on and on. */
export const admitAttempt = async (
  { rateLimits, secrets }: ThrottlePorts,
  { email, remoteAddress }: Pick<Credentials, "email" | "remoteAddress">,
): Promise<Result<void, RateLimited>> => {
  for (const name of [`email ${email.trim().toLowerCase()}`, `address ${remoteAddress}`]) {
    const party = secrets.sha256(name).slice(0, PARTY_DIGITS) as RateLimitedParty;
    const admitted = await rateLimits.admit(party, "login");
    if (admitted.isErr()) return err(admitted.error);
  }
  return ok(undefined);
};

const newSession = async ({ sessions, clock, ids, secrets }: Ports, accountId: AccountId): Promise<SessionToken> => {
  const token = ids.sessionToken();
  const now = clock.now();
  await sessions.deleteExpired(now);
  await sessions.insert(openSession(accountId, secrets.sha256(token), now));
  return token;
};
