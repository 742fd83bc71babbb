import type { Result } from "neverthrow";
import type { AccountSuspended } from "../../../domain/accounts/account.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { ApiKeyExpired, MissingScope } from "../../../domain/accounts/key-limits.js";
import type { Budgets } from "../../../domain/credits/budget.js";
import type { AccountRateLimited, Admission, RateLimited } from "../../../domain/credits/rate-limit.js";
import type { AccountId, Brand, TaskId } from "../../../domain/ids.js";
import type { RequestKind } from "../../../domain/panorama-policy.js";
import type { Task } from "../../../domain/tasks/task.js";
import type { Awaitable } from "../../awaitable.js";
import type { AccountSnapshot } from "./tasks/task-store.js";

/**
 * Key of a rate-limit counter: an API key, an account on the web pages, or 32 hexadecimal digits for an e-mail address,
 * a network, or both, in requests without a session (accounts/check-credentials.ts).
 */
export type RateLimitedParty = ApiKeyId | AccountId | Brand<string, "LoginParty">;

/** The domain's rate limit (domain/credits/rate-limit.ts), counted per party and kind of request. */
export interface RateLimits<Kind extends string = RequestKind> {
  /** Admits and counts the request, or rejects it without counting it. Atomic for concurrent requests. */
  admit(party: RateLimitedParty, kind: Kind): Awaitable<Result<Omit<Admission, "log">, RateLimited>>;
  /** Deletes expired counters. Called once an hour. Absent if counters expire by themselves. */
  clean?(): Promise<void>;
}

/** Unknown and revoked keys give the same error. */
type InvalidApiKey = { readonly kind: "invalid_api_key" };

/** Reason why a request is not admitted. */
export type RefusedRequest =
  | InvalidApiKey
  | AccountSuspended
  | ApiKeyExpired
  | MissingScope
  | RateLimited
  | AccountRateLimited;

/**
 * `expiresAt`: expiry of the key. `budgets`: only for writes. `account`: only for writes, if read in the same round
 * trip.
 */
export type AdmittedKey = {
  readonly id: ApiKeyId;
  readonly expiresAt?: Date | undefined;
  readonly budgets: Budgets | undefined;
  /** `false`: it lacks the scope `read`. */
  readonly mayRead?: boolean | undefined;
  readonly account?: AccountSnapshot | undefined;
};

/** A request whose API key is valid, may make such requests, and is within its rate limit. */
export type AdmittedRequest = {
  readonly accountId: AccountId;
  readonly key: AdmittedKey;
  /** Identifies the key for code that must not remember its secret. */
  readonly secretSha256: string;
  readonly admission: Omit<Admission, "log">;
  /** The requested task; `undefined` if the account has no such task or none was requested. */
  readonly task: Task | undefined;
};

/**
 * Authenticates a request, counts it for the rate limits (domain/credits/rate-limit.ts), and reads its task, all in one
 * round trip. An in-process store returns without a promise.
 */
export interface ApiRequests {
  /**
   * Checks the key with this digest of its secret: its account (suspended?), expiry, scope (`scopeOf` in
   * domain/panorama-policy.ts), then the rate limits. A refused request is not counted, with one exception: a write
   * that only the limit of the account (`total`) refuses counts for the key. `task` is returned only if it belongs to
   * the key's account and is not deleted. Throws if the store is unreachable or a row is unreadable.
   */
  admit(secretSha256: string, kind: RequestKind, task?: TaskId): Awaitable<Result<AdmittedRequest, RefusedRequest>>;
}
