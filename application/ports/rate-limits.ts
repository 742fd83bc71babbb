import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import type { ApiKeyId } from "../../domain/api-key.js";
import type { Brand } from "../../domain/brand.js";
import type { Admission, RateLimited, RequestKind } from "../../domain/rate-limit.js";

/**
 * Whose requests are counted: an API key's, an account's on the web pages, or those of somebody who tries to log in
 * (log-in.ts), as 32 hexadecimal digits.
 */
export type RateLimitedParty = ApiKeyId | AccountId | Brand<string, "LoginParty">;

/** The rate limit of the domain (rate-limit.ts), kept per party and kind of request. */
export interface RateLimits {
  /** Admits and counts the request, or refuses it and counts nothing; atomic for concurrent requests of one party. */
  admit(party: RateLimitedParty, kind: RequestKind): Promise<Result<Omit<Admission, "log">, RateLimited>>;
}
