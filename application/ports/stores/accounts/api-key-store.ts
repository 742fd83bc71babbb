import type { Result } from "neverthrow";
import type { ApiKey, ApiKeyId } from "../../../../domain/accounts/api-key.js";
import type { Spending } from "../../../../domain/credits/budget.js";
import type { AccountId } from "../../../../domain/ids.js";
import type { NotFound } from "../../../errors.js";

/** Stores API keys, without their secrets. Throws if the store is unreachable or a row is unreadable. */
export interface ApiKeyStore {
  /**
   * Inserts the key if `decide` allows it, given the number of the account's keys that are not revoked. The account is
   * locked, so that concurrent keys are counted. Throws if the account does not exist.
   */
  insert<Refusal>(key: ApiKey, decide: (liveKeys: number) => Result<void, Refusal>): Promise<Result<void, Refusal>>;
  /** All keys of the account, oldest first, including revoked ones. */
  list(account: AccountId): Promise<ApiKey[]>;
  /** The account's keys that are not revoked, newest first. */
  listLive(account: AccountId): Promise<ApiKey[]>;
  /** Revokes the key as of `now`. A key that is already revoked keeps its first revocation date. */
  revoke(id: ApiKeyId, now: Date): Promise<Result<void, NotFound>>;
  /**
   * What the account's keys have spent in the day and month of `now`. Keys without spending in that month are missing.
   */
  spending(account: AccountId, now: Date): Promise<ReadonlyMap<ApiKeyId, Spending>>;
  /** Stores the times of the last uses. A later time that is stored already stays; unknown keys are ignored. */
  recordUses(uses: ReadonlyMap<ApiKeyId, Date>): Promise<void>;
}
