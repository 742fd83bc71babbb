import { err, ok, type Result } from "neverthrow";
import { type Account, parseEmail } from "../../domain/accounts/account.js";
import { mayBePassword } from "../../domain/accounts/password.js";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import type { AccountId } from "../../domain/ids.js";
import type { LoginFailure, Reporter } from "../ports/reporter.js";
import type { HashingBusy, Secrets } from "../ports/secrets.js";
import type { AccountStore } from "../ports/stores/account-stores.js";
import type { RateLimitedParty, RateLimits } from "../ports/stores/rate-limits.js";

/** 32 hexadecimal digits are 128 bits of the digest: no collisions in practice, and no longer than an id. */
const PARTY_DIGITS = 32;

/** The party of a rate limit, without the name itself. */
export const partyNamed = (secrets: Pick<Secrets, "sha256">, name: string): RateLimitedParty =>
  secrets.sha256(name).slice(0, PARTY_DIGITS) as RateLimitedParty;

/** What the limits of logins need. */
export type LoginThrottlePorts = { readonly rateLimits: RateLimits; readonly secrets: Pick<Secrets, "sha256"> };

/** Who tries to log in, and from where. */
export type LoginAttempt = {
  readonly email: string;
  /** The network of the client: its IPv4 address, or the /64 of its IPv6 address. */
  readonly remoteAddress: string;
};

/**
 * Counts the attempt for its network, for its e-mail address from this network, and for its e-mail address, so that
 * passwords cannot be guessed. The order matters: an attempt above the limit of its network does not count for the
 * e-mail address, so one network alone cannot use up the attempts of the address's owner elsewhere.
 */
export const admitLoginAttempt = async (
  { rateLimits, secrets }: LoginThrottlePorts,
  { email, remoteAddress }: LoginAttempt,
): Promise<Result<void, RateLimited>> => {
  const address = email.trim().toLowerCase();
  const counted = [
    ["login_network", `address ${remoteAddress}`],
    ["login", `email ${address} from ${remoteAddress}`],
    ["login_email", `email ${address}`],
  ] as const;
  for (const [kind, name] of counted) {
    const admitted = await rateLimits.admit(partyNamed(secrets, name), kind);
    if (admitted.isErr()) return err(admitted.error);
  }
  return ok(undefined);
};

/** A wrong password, an account without a password and an unknown e-mail address give the same error. */
export type WrongLogin = { readonly kind: "wrong_login" };

/** An attempt to log in with a password. */
export type Credentials = LoginAttempt & { readonly password: string };

/**
 * The account of the credentials, and the hash of its password: the next step sees by it whether the password has
 * changed.
 */
type Proof = { readonly accountId: AccountId; readonly passwordHash: string };

/** What the check of credentials needs. */
export type CredentialsPorts = Pick<LoginThrottlePorts, "rateLimits"> & {
  readonly accounts: Pick<AccountStore, "findByEmail">;
  readonly secrets: Pick<Secrets, "sha256" | "verifyPassword">;
  readonly reporter: Pick<Reporter, "report">;
};

/** The only value of its type. */
export const WRONG_LOGIN: WrongLogin = { kind: "wrong_login" };

type Refusals = WrongLogin | RateLimited | HashingBusy;

/**
 * Counts the attempt, and compares the password. Takes the same time for an unknown e-mail address as for a known one.
 * Stops waiting for its turn to hash when `signal` is aborted.
 */
export const checkCredentials = async (
  ports: CredentialsPorts,
  credentials: Credentials,
  signal?: AbortSignal,
): Promise<Result<Proof, Refusals>> => {
  const { remoteAddress: network } = credentials;
  const refuse = (refusal: Refusals, reason: LoginFailure, accountId?: AccountId): Result<never, Refusals> => {
    ports.reporter.report({ kind: "login_failed", reason, network, accountId });
    return err(refusal);
  };
  const admitted = await admitLoginAttempt(ports, credentials);
  if (admitted.isErr()) return refuse(admitted.error, "rate_limited");
  if (!mayBePassword(credentials.password)) return refuse(WRONG_LOGIN, "wrong_password");
  const email = parseEmail(credentials.email);
  const found = email.isOk() ? await ports.accounts.findByEmail(email.value) : undefined;
  const right = await ports.secrets.verifyPassword(credentials.password, found?.passwordHash, signal);
  if (right.isErr()) return refuse(right.error, "hashing_busy");
  if (found === undefined) return refuse(WRONG_LOGIN, "unknown_address");
  const { account, passwordHash } = found;
  if (passwordHash === undefined) return refuse(WRONG_LOGIN, "no_password", account.id);
  if (!right.value) return refuse(WRONG_LOGIN, "wrong_password", account.id);
  return ok({ accountId: account.id, passwordHash });
};

/** How somebody who is logged in proves to be the owner of the account. */
export type OwnPassword = Omit<Credentials, "email">;

/**
 * Asks for the password of an account again, before what must not be done with a session that was left open or stolen.
 * Counts as an attempt to log in.
 */
export const checkOwnPassword = async (
  ports: CredentialsPorts,
  { id, email }: Account,
  own: OwnPassword,
  signal?: AbortSignal,
): Promise<Result<Proof, Refusals>> => {
  const proof = await checkCredentials(ports, { ...own, email }, signal);
  // The address may have gone to another account since the session was read.
  return proof.isOk() && proof.value.accountId !== id ? err(WRONG_LOGIN) : proof;
};
