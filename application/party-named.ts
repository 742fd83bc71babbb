import type { Secrets } from "./ports/secrets.js";
import type { RateLimitedParty } from "./ports/stores/rate-limits.js";

/** 32 hexadecimal digits are 128 bits of the digest: no collisions in practice, and no longer than an id. */
const PARTY_DIGITS = 32;

/** The party of a rate limit, without the name itself. */
export const partyNamed = (secrets: Pick<Secrets, "sha256">, name: string): RateLimitedParty =>
  secrets.sha256(name).slice(0, PARTY_DIGITS) as RateLimitedParty;
