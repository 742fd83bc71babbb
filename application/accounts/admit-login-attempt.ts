import { err, ok, type Result } from "neverthrow";
import type { RateLimited } from "../../domain/credits/rate-limit.js";
import { partyNamed } from "../party-named.js";
import type { Secrets } from "../ports/secrets.js";
import type { RateLimits } from "../ports/stores/rate-limits.js";

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
