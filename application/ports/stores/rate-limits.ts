import type { Result } from "neverthrow";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { Admission, RateLimited } from "../../../domain/credits/rate-limit.js";
import type { AccountId, Brand } from "../../../domain/ids.js";
import type { RequestKind } from "../../../domain/panorama-policy.js";
import type { Awaitable } from "../../awaitable.js";

/**
 * Whose requests are counted: those of an API key, those of an account on the web pages, or attempts without a session
 * for an e-mail address, from a network, or both (accounts/admit-login-attempt.ts), as 32 hexadecimal digits.
 */
export type RateLimitedParty = ApiKeyId | AccountId | Brand<string, "LoginParty">;

/** The domain's rate limit (domain/credits/rate-limit.ts), counted per party and kind of request. */
export interface RateLimits<Kind extends string = RequestKind> {
  /** Admits and counts the request, or rejects it without counting it. Atomic for concurrent requests. */
  admit(party: RateLimitedParty, kind: Kind): Awaitable<Result<Omit<Admission, "log">, RateLimited>>;
  /** Deletes expired counters. Called once an hour. Absent if none are left. */
  clean?(): Promise<void>;
}
