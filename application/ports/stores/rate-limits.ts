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
 * Whose requests are counted: those of an API key, those of an account on the web pages, or attempts without a session
 * for an e-mail address, from a network, or both (accounts/check-credentials.ts), as 32 hexadecimal digits.
 */
export type RateLimitedParty = ApiKeyId | AccountId | Brand<string, "LoginParty">;

/** The domain's rate limit (domain/credits/rate-limit.ts), counted per party and kind of request. */
export interface RateLimits<Kind extends string = RequestKind> {
  /** Admits and counts the request, or rejects it without counting it. Atomic for concurrent requests. */
  admit(party: RateLimitedParty, kind: Kind): Awaitable<Result<Omit<Admission, "log">, RateLimited>>;
  /** Deletes expired counters. Called once an hour. Absent if none are left. */
  clean?(): Promise<void>;
}

/** Unknown and revoked keys give the same error. */
type InvalidApiKey = { readonly kind: "invalid_api_key" };

/** Why a request is not admitted. */
export type RefusedRequest =
  | InvalidApiKey
  | AccountSuspended
  | ApiKeyExpired
  | MissingScope
  | RateLimited
  | AccountRateLimited;

/**
 * `expiresAt`: if the key expires. `budgets`: of a write, if the key has any. `account`: of a write, if the store has
 * read it in the same round trip.
 */
export type AdmittedKey = {
  readonly id: ApiKeyId;
  readonly expiresAt?: Date | undefined;
  readonly budgets: Budgets | undefined;
  readonly account?: AccountSnapshot | undefined;
};

/** A request whose API key is valid, may make such requests, and is within its rate limit. */
export type AdmittedRequest = {
  readonly accountId: AccountId;
  readonly key: AdmittedKey;
  readonly admission: Omit<Admission, "log">;
  /** The task that was asked for; `undefined` if the account has no such task or none was asked for. */
  readonly task: Task | undefined;
};

/**
 * What every request with an API key begins with: the key, its rate limit (domain/credits/rate-limit.ts) and, for a
 * request that reads one task, the task. One port, so that a store needs only one round trip for all. A store in this
 * process answers without a promise.
 */
export interface ApiRequests {
  /**
   * Counts a request of the key whose secret has this digest, unless it is refused, and returns the admission of the
   * key. A key of a suspended account, or one that has expired or lacks the scope (`scopeOf` in
   * domain/panorama-policy.ts) is refused before anything counts. A write also counts for its account (`total`); if
   * only the limit of the account refuses it, it counts for the key.
   * `task` is the task to read, which is found only if it belongs to the key's account and is not hidden. Throws if the
   * store is unreachable or a row is unreadable.
   */
  admit(secretSha256: string, kind: RequestKind, task?: TaskId): Awaitable<Result<AdmittedRequest, RefusedRequest>>;
}
