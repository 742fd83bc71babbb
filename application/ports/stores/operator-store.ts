import type { Result } from "neverthrow";
import type { Account, Email, Suspension } from "../../../domain/accounts/account.js";
import type { ApiKey, ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../../domain/accounts/key-limits.js";
import type { Credits } from "../../../domain/credits/credits.js";
import type { AdjustmentReference, Booked, Funds, LedgerEntry } from "../../../domain/credits/ledger.js";
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
  /** When the operator has closed it; `undefined` for an open one. */
  readonly closedAt: Date | undefined;
};

/** A task of any account. `isDeleted`: its owner has deleted the panorama, or the account is closed. */
export type TaskOfAccount = { readonly task: Task; readonly isDeleted: boolean };

/** When a task reached its stages, as far as it has and this was recorded. */
export type StageTimes = {
  /** It left the queue. */
  readonly startedAt?: Date | undefined;
  readonly submittedAt?: Date | undefined;
  /** The provider had a result. */
  readonly generatedAt?: Date | undefined;
  readonly savedAt?: Date | undefined;
  /** Its temporary URL had ended before the image was stored. */
  readonly expiredAt?: Date | undefined;
};

/** Everything that is stored about a task besides its ledger entries and deliveries. */
export type TaskRecord = TaskOfAccount & {
  readonly times: StageTimes;
  /** Also of a task that failed later. */
  readonly upstreamTaskId: string | undefined;
  /** How often it has returned to the queue. */
  readonly submissions: number;
  /** Attempts to store its image that have failed, while it is not stored. */
  readonly imageAttempts: number;
  /** When the next background work is due. */
  readonly dueAt: Date | undefined;
  readonly deleted: { readonly at: Date; readonly by: DeletedBy | undefined } | undefined;
  readonly hidden: Hiding | undefined;
};

/** Which tasks of an account are listed; `undefined` members allow all. */
export type OperatorFilter = {
  readonly key?: ApiKeyId | undefined;
  readonly state?: Task["state"] | undefined;
  readonly reason?: FailureReason | undefined;
  /** Created at this time or later, and before `until`. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
};

/**
 * Reads and changes what operators ask for, of all accounts. Throws if the store is unreachable or a row is unreadable.
 * The methods that change an account throw if there is no such account.
 */
export interface OperatorStore {
  /** Newest first, at most `limit`, older than `before`. */
  accounts(limit: number, before: AccountId | undefined): Promise<AccountSummary[]>;
  account(id: AccountId): Promise<AccountSummary | undefined>;
  task(id: TaskId): Promise<TaskOfAccount | undefined>;
  /** The task with this id or slug. */
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
   * Stores the entries, the balance and the debt that `decide` returns for the current ones; nothing if it refuses.
   * `known`: the entry of the account with this reference. Returns the balance.
   */
  adjust<Refusal>(
    account: AccountId,
    decide: (funds: Funds, known: LedgerEntry | undefined) => Result<Booked, Refusal>,
    reference?: AdjustmentReference,
  ): Promise<Result<Credits, Refusal>>;

  /** Suspends the account, or resumes it with `undefined`. */
  suspend(account: AccountId, suspension: Suspension | undefined): Promise<void>;

  key(id: ApiKeyId): Promise<ApiKey | undefined>;
  /** The key with this SHA-256 of its secret, also a revoked one. */
  keyWithSecret(secretSha256: string): Promise<ApiKey | undefined>;
  /** Replaces the limits. What the key has spent in the day and the month of `now` counts for its new budgets. */
  setKeyLimits(id: ApiKeyId, limits: KeyLimits, now: Date): Promise<Result<void, NotFound>>;

  /**
   * Closes the account in one transaction, if `decide` allows it: stores the entry that `decide` returns for the
   * balance that is left, replaces the e-mail address by `email`, also in the log of operators, and deletes password,
   * sessions, password links, keys and idempotency keys. Its endpoints are switched off. A closed account is closed
   * again.
   */
  close<Refusal>(
    account: AccountId,
    email: Email,
    now: Date,
    decide: (standing: Standing) => Result<LedgerEntry | undefined, Refusal>,
  ): Promise<Result<void, Refusal>>;
  /**
   * Of a closed account: deletes up to `limit` tasks after `after`, oldest first, as `TaskStore.delete` does, and
   * erases what their owner has sent: prompt, images, metadata, seed, webhook URL. Returns the last task; `undefined`
   * at the end.
   */
  eraseTasks(account: AccountId, after: TaskId | undefined, limit: number, now: Date): Promise<TaskId | undefined>;
  /**
   * Of a closed account: deletes up to `limit` events with their deliveries. After the last one, deletes the endpoints
   * and what is known of its own receivers, and makes the uploaded images expire. Returns whether more are left.
   */
  eraseEvents(account: AccountId, limit: number): Promise<boolean>;
  /** Records that everything of a closed account is erased. */
  recordErased(account: AccountId, now: Date): Promise<void>;
  /** Up to `limit` closed accounts of which `recordErased` was not called since, the one closed first in front. */
  toErase(limit: number): Promise<AccountId[]>;
}
