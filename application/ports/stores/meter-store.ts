import type { Hold, Holdings } from "../../../domain/credits/hold.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import type { LedgerCursor } from "../../../domain/credits/ledger.js";
import type { MeterEntry } from "../../../domain/credits/meter-entry.js";
import type { OrderId } from "../../../domain/credits/order.js";
import type { AdmissionLog } from "../../../domain/credits/rate-limit.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { Awaitable } from "../../awaitable.js";

/** What a decision needs to know besides the holdings of the account. At most one of `taskId` and `idempotencyKey`. */
export type MeterQuery = {
  readonly rate?: string | undefined;
  readonly taskId?: TaskId | undefined;
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** The order of a purchase, or the idempotency key of a refund or an adjustment: one set of names. */
  readonly entryKey?: OrderId | IdempotencyKey | undefined;
};

/** What `read` returns. */
export type MeterReading = Holdings & {
  /** The time of the store: all processes that share the store decide by it. */
  readonly now: Date;
  /** The hold of the account with this id, or the newest one with this idempotency key, in any state. */
  readonly hold: Hold | undefined;
};

/** What a store has read of an account, for the function that decides about it. */
export type MeterRecord = MeterReading & {
  /** An id that no hold has. */
  readonly newTaskId: TaskId;
  /** The requests of the account at `rate`; empty if there is none. */
  readonly log: AdmissionLog;
  /** The entry of the account with this `orderId` or `idempotencyKey`. */
  readonly entry: MeterEntry | undefined;
};

/** What a store writes of an account, all of it or nothing. */
export type MeterChange = {
  /** The new balance, an integer. Negative if the account is in debt. */
  readonly credits: number;
  /** New holds, and new versions of stored ones, by the id of the task. */
  readonly holds: readonly Hold[];
  /** To be added to the ledger, in this order. */
  readonly entries: readonly MeterEntry[];
  /** The new log of `rate`; `undefined`: unchanged. */
  readonly log: AdmissionLog | undefined;
};

/** An entry of a meter's ledger and its number, from which the next page begins. */
export type MeterLine = { readonly cursor: LedgerCursor; readonly entry: MeterEntry };

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

  /** What is stored, as of one moment. Waits for no change and writes nothing. */
  read(account: AccountId, query: Pick<MeterQuery, "taskId">): Awaitable<MeterReading>;

  /** The ledger of the account, newest entry first, at most `limit`, older than `before`. */
  entries(account: AccountId, limit: number, before: LedgerCursor | undefined): Awaitable<readonly MeterLine[]>;
}

/** A store that can also work in a transaction of its caller. */
export type JoiningMeterStore<Connection> = MeterStore & {
  /**
   * A store that does everything in the transaction that is open on this connection, so that it is committed or rolled
   * back with what the caller writes there. Throws in each call if no transaction is open.
   */
  readonly within: (connection: Connection) => MeterStore;
};
