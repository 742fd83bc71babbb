import { err, ok, type Result } from "neverthrow";
import type { RateLimited } from "../../domain/rate-limit.js";
import type { RateLimitedParty, RateLimits } from "../ports/rate-limits.js";
import type { Secrets } from "../ports/secrets.js";

export type LoginThrottlePorts = { readonly rateLimits: RateLimits; readonly secrets: Pick<Secrets, "sha256"> };

export type LoginAttempt = {
  readonly email: string;
  /** The IP address of the client. */
  readonly remoteAddress: string;
};

/** 32 hexadecimal digits are 128 bits of the digest: no collisions in practice, and no longer than an id. */
const PARTY_DIGITS = 32;

/** Counts the attempt against its e-mail address and against its IP address, so that passwords cannot be guessed. */
export const admitLoginAttempt = async (
  { rateLimits, secrets }: LoginThrottlePorts,
  { email, remoteAddress }: LoginAttempt,
): Promise<Result<void, RateLimited>> => {
  for (const name of [`email ${email.trim().toLowerCase()}`, `address ${remoteAddress}`]) {
    const party = secrets.sha256(name).slice(0, PARTY_DIGITS) as RateLimitedParty;
    const admitted = await rateLimits.admit(party, "login");
    if (admitted.isErr()) return err(admitted.error);
  }
  return ok(undefined);
};
