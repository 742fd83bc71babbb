import { err, ok, type Result } from "neverthrow";
import { type Account, parseEmail } from "../../domain/accounts/account.js";
import { isPossiblePassword } from "../../domain/accounts/password.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { AccountId } from "../../domain/ids.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { LoginFailure } from "../ports/reporter.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { RateLimitedParty, RateLimits } from "../ports/stores/rate-limits.js";

/** 128 bits of the digest: no collisions in practice, and as short as an id. */
const PARTY_DIGITS = 32;

/** Key of a rate-limit counter: a digest of the name. */
export function limitKeyOf(secrets: Secrets, name: string): RateLimitedParty {
  return secrets.sha256(name).slice(0, PARTY_DIGITS) as RateLimitedParty;
}

/** E-mail address and network of a login. */
export type LoginAttempt = {
  readonly email: string;
  /** The network of the client: its IPv4 address, or the /64 of its IPv6 address. */
  readonly remoteAddress: string;
};

/**
 * Counts a login attempt three times, so that passwords cannot be guessed: per network, per address and network, per
 * address. Keep this order: an attempt that the network limit refuses must not count for the address, or one network
 * could lock out the owner.
 */
export async function admitLoginAttempt(
  { rateLimits, secrets }: { readonly rateLimits: RateLimits; readonly secrets: Secrets },
  { email, remoteAddress }: LoginAttempt,
): Promise<Result<void, RateLimited>> {
  const address = email.trim().toLowerCase();
  const counted = [
    ["login_network", `address ${remoteAddress}`],
    ["login", `email ${address} from ${remoteAddress}`],
    ["login_email", `email ${address}`],
  ] as const;
  for (const [kind, name] of counted) {
    const admitted = await rateLimits.admit(limitKeyOf(secrets, name), kind);
    if (admitted.isErr()) return err(admitted.error);
  }
  return ok(undefined);
}

/** The error for a wrong password, an account without a password, and an unknown e-mail address alike. */
export type WrongLogin = { readonly kind: "wrong_login" };

export type Credentials = LoginAttempt & { readonly password: string };

/** Result of a password check. The next step compares `passwordHash` to detect a change of the password. */
type Proof = { readonly accountId: AccountId; readonly passwordHash: string };

/** What a password check needs. */
export type CredentialPorts = Pick<ApplicationPorts, "accounts" | "rateLimits" | "secrets" | "reporter">;

export const WRONG_LOGIN: WrongLogin = { kind: "wrong_login" };

type Refusals = WrongLogin | RateLimited | HashingBusy;

/**
 * Counts the attempt, and compares the password. Takes the same time for an unknown e-mail address as for a known one.
 * The wait for a turn to hash ends when `signal` is aborted.
 */
export async function checkCredentials(
  ports: CredentialPorts,
  credentials: Credentials,
  signal?: AbortSignal,
): Promise<Result<Proof, Refusals>> {
  const { remoteAddress: network } = credentials;
  const refuse = (refusal: Refusals, reason: LoginFailure, accountId?: AccountId): Result<never, Refusals> => {
    ports.reporter.report({ kind: "login_failed", reason, network, accountId });
    return err(refusal);
  };
  const admitted = await admitLoginAttempt(ports, credentials);
  if (admitted.isErr()) return refuse(admitted.error, "rate_limited");
  if (!isPossiblePassword(credentials.password)) return refuse(WRONG_LOGIN, "wrong_password");
  const email = parseEmail(credentials.email);
  const found = email.isOk() ? await ports.accounts.findByEmail(email.value) : undefined;
  const right = await ports.secrets.verifyPassword(credentials.password, found?.passwordHash, signal);
  if (right.isErr()) return refuse(right.error, "hashing_busy");
  if (found === undefined) return refuse(WRONG_LOGIN, "unknown_address");
  const { account, passwordHash } = found;
  if (passwordHash === undefined) return refuse(WRONG_LOGIN, "no_password", account.id);
  if (!right.value) return refuse(WRONG_LOGIN, "wrong_password", account.id);
  return ok({ accountId: account.id, passwordHash });
}

/** Input of `checkOwnPassword`. */
export type OwnPassword = Omit<Credentials, "email">;

/**
 * Checks the password again before a sensitive change, in case the session was left open or stolen. Counts as a login
 * attempt.
 */
export async function checkOwnPassword(
  ports: CredentialPorts,
  { id, email }: Account,
  own: OwnPassword,
  signal?: AbortSignal,
): Promise<Result<Proof, Refusals>> {
  const proof = await checkCredentials(ports, { ...own, email }, signal);
  // The address may have gone to another account since the session was read.
  return proof.isOk() && proof.value.accountId !== id ? err(WRONG_LOGIN) : proof;
}
