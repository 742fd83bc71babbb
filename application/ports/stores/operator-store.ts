import type { Result } from "neverthrow";
import type { Account, Email, Suspension } from "../../../domain/accounts/account.js";
import type { ApiKey, ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../../domain/accounts/key-limits.js";
import type { AdjustmentReference } from "../../../domain/credits/adjustment.js";
import type { Credits } from "../../../domain/credits/credits.js";
import type { Booking, Funds } from "../../../domain/credits/funds.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { DeletedBy, Hiding } from "../../../domain/tasks/out-of-sight.js";
import type { FailureReason, Task } from "../../../domain/tasks/task.js";
import type { NotFound } from "../../errors.js";

/** An account as the operator sees it. */
export type AccountSummary = {
  readonly account: Account;
  readonly standing: Standing;
  /** Time of closing; `undefined`: open. */
  readonly closedAt: Date | undefined;
};

/** A task of any account. `isDeleted`: its owner has deleted the panorama, or the account is closed. */
export type TaskOfAccount = { readonly task: Task; readonly isDeleted: boolean };

/** Times of the stages that the task has reached, as far as recorded. */
export type StageTimes = {
  /** Time at which the task left the queue. */
  readonly startedAt?: Date | undefined;
  readonly submittedAt?: Date | undefined;
  /** Time at which the provider had a result. */
  readonly generatedAt?: Date | undefined;
  readonly savedAt?: Date | undefined;
  /** Time at which the temporary URL expired without a stored image. */
  readonly expiredAt?: Date | undefined;
};

/** Everything that is stored about a task besides its ledger entries and deliveries. */
export type TaskRecord = TaskOfAccount & {
  readonly times: StageTimes;
  /** Kept for failed tasks too. */
  readonly upstreamTaskId: string | undefined;
  /** Number of returns to the queue. */
  readonly submissions: number;
  /** Number of failed attempts to store the image, until it is stored. */
  readonly imageAttempts: number;
  /** Due time of the next background work. */
  readonly dueAt: Date | undefined;
  readonly deleted: { readonly at: Date; readonly by: DeletedBy | undefined } | undefined;
  readonly hidden: Hiding | undefined;
};

/** Filter of the tasks of an account; `undefined` members match all. */
export type OperatorFilter = {
  readonly key?: ApiKeyId | undefined;
  readonly state?: Task["state"] | undefined;
  readonly reason?: FailureReason | undefined;
  /** Time of creation: from `from`, before `until`. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
};

/** The steps after the closing of an account. Throws if the store is unreachable. */
export interface AccountErasure {
  /**
   * Deletes up to `limit` tasks of a closed account, oldest first, starting after `after`, as `TaskStore.delete` does.
   * Erases their prompt, images, metadata, seed and webhook URL. Returns the last task; `undefined` at the end.
   */
  eraseTasks(account: AccountId, after: TaskId | undefined, limit: number, now: Date): Promise<TaskId | undefined>;
  /**
   * Deletes up to `limit` events of a closed account with their deliveries. After the last one, deletes its endpoints
   * and its own receivers, and expires its uploaded images. Returns true if more events are left.
   */
  eraseEvents(account: AccountId, limit: number): Promise<boolean>;
  /** Records that everything of a closed account is erased. */
  recordErased(account: AccountId, now: Date): Promise<void>;
  /** Closed accounts without `recordErased` since their closing, oldest closing first, at most `limit`. */
  closedNotErased(limit: number): Promise<AccountId[]>;
}

/**
 * Operator actions on all accounts. Throws if the store is unreachable or a row is unreadable. The methods that change
 * an account throw if there is no such account.
 */
export interface OperatorStore extends AccountErasure {
  /** Accounts, newest first, at most `limit`, older than `before`. */
  accounts(limit: number, before: AccountId | undefined): Promise<AccountSummary[]>;
  account(id: AccountId): Promise<AccountSummary | undefined>;
  task(id: TaskId): Promise<TaskOfAccount | undefined>;
  record(idOrSlug: string): Promise<TaskRecord | undefined>;
  /** The tasks of the account, newest first, at most `limit`, older than `before`. */
  tasks(
    account: AccountId,
    limit: number,
    before: TaskId | undefined,
    filter?: OperatorFilter,
  ): Promise<TaskOfAccount[]>;
  /** The uploaded images that no task uses. */
  unusedUploads(account: AccountId): Promise<{ readonly name: ObjectName; readonly uploadedAt: Date }[]>;

  /**
   * Calls `decide` with the current balance and debt, and stores the entries, balance and debt that it returns; nothing
   * if it refuses. `known`: the account's entry with the same reference. Returns the balance.
   */
  adjust<Refusal>(
    account: AccountId,
    decide: (funds: Funds, known: LedgerEntry | undefined) => Result<Booking, Refusal>,
    reference?: AdjustmentReference,
  ): Promise<Result<Credits, Refusal>>;

  /** Suspends the account, or resumes it with `undefined`. A closed account stays as it is. */
  suspend(account: AccountId, suspension: Suspension | undefined): Promise<Result<void, NotFound>>;

  key(id: ApiKeyId): Promise<ApiKey | undefined>;
  /** The key with this SHA-256 of its secret, even if revoked. */
  keyWithSecret(secretSha256: string): Promise<ApiKey | undefined>;
  /**
   * Replaces the limits by those that `decide` returns for the present ones, under a lock of the key. Unchanged scopes
   * keep those of a newer version. The key's spending in this day and month counts for its new budgets.
   */
  setKeyLimits<Refusal>(
    id: ApiKeyId,
    decide: (limits: KeyLimits) => Result<KeyLimits, Refusal>,
  ): Promise<Result<ApiKey, NotFound | Refusal>>;

  /**
   * Closes the account in one transaction, if `decide` allows it:
   * - stores the entry that `decide` returns for the remaining balance
   * - replaces the e-mail address by `email`, also in the operator log
   * - deletes password, sessions, password links, keys and idempotency keys
   * - switches its endpoints off
   * May be repeated.
   */
  close<Refusal>(
    account: AccountId,
    email: Email,
    now: Date,
    decide: (standing: Standing) => Result<LedgerEntry | undefined, Refusal>,
  ): Promise<Result<void, Refusal>>;
}
