import type { AccountId } from "../../../domain/account-id.js";
import type { Credits } from "../../../domain/credits/credits.js";
import type { Hold, Holdings } from "../../../domain/credits/hold.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import type { LedgerCursor, LedgerEntry } from "../../../domain/credits/ledger.js";
import type { OrderId } from "../../../domain/credits/order.js";
import type { AdmissionLog } from "../../../domain/credits/rate-limit.js";
import type { TaskId } from "../../../domain/task-id.js";
import type { Awaitable } from "../../awaitable.js";
import type { LedgerLine } from "./ledger-store.js";

/** What a decision needs to know besides the holdings of the account. At most one of `taskId` and `idempotencyKey`. */
export type MeterQuery = {
  readonly rate?: string | undefined;
  readonly taskId?: TaskId | undefined;
  readonly idempotencyKey?: IdempotencyKey | undefined;
  readonly orderId?: OrderId | undefined;
};

/** What a store has read of an account, for the function that decides about it. */
export type MeterRecord = Holdings & {
  /** The time of the store: all processes that share the store decide by it. */
  readonly now: Date;
  /** An id that no hold has. */
  readonly newTaskId: TaskId;
  /** The requests of the account at `rate`; empty if there is none. */
  readonly log: AdmissionLog;
  /** The hold of the account with this id, or the newest one with this idempotency key, in any state. */
  readonly hold: Hold | undefined;
  /** The credits that the account was given for this order. */
  readonly purchased: Credits | undefined;
};

/** What a store writes of an account, all of it or nothing. */
export type MeterChange = {
  /** The new balance. */
  readonly credits: Credits;
  /** New holds, and new versions of stored ones, by the id of the task. */
  readonly holds: readonly Hold[];
  /** To be added to the ledger, in this order. */
  readonly entries: readonly LedgerEntry[];
  /** The new log of `rate`; `undefined`: unchanged. */
  readonly log: AdmissionLog | undefined;
};

/**
 * Stores what a meter knows of its accounts (application/credits/meter.ts). An account that was never written has no
 * credits and no holds. Throws if the store is unreachable.
 */
export interface MeterStore {
  /**
   * Passes what is stored to `decide`, and stores the change that it returns, all or nothing; without a change it
   * writes nothing. Returns the answer of `decide` after the change is durable. Atomic: no other change of the account
   * happens between reading and writing, in this process and in others. `decide` is pure and may be called again. If it
   * throws, nothing is written, and the error is thrown.
   */
  change<Answer>(
    account: AccountId,
    query: MeterQuery,
    decide: (record: MeterRecord) => { readonly change?: MeterChange | undefined; readonly answer: Answer },
  ): Awaitable<Answer>;

  /** The ledger of the account, newest entry first, at most `limit`, older than `before`. */
  entries(account: AccountId, limit: number, before: LedgerCursor | undefined): Awaitable<readonly LedgerLine[]>;
}
