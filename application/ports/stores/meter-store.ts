import type { Hold, MeterFunds } from "../../../domain/credits/hold.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import type { LedgerCursor } from "../../../domain/credits/ledger-page.js";
import type { MeterEntry } from "../../../domain/credits/meter-entry.js";
import type { OrderId } from "../../../domain/credits/order.js";
import type { AdmissionLog } from "../../../domain/credits/rate-limit.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { Awaitable } from "../../awaitable.js";

/** Additional data to read for a decision. Set `taskId` or `idempotencyKey`, not both. */
export type MeterQuery = {
  readonly rate?: string | undefined;
  readonly taskId?: TaskId | undefined;
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** Order id of a purchase, or idempotency key of a refund or an adjustment. Unique across the three. */
  readonly entryKey?: OrderId | IdempotencyKey | undefined;
};

/** Result of `read`. */
export type MeterReading = MeterFunds & {
  /** Time of the store, shared by all its processes. */
  readonly now: Date;
  /** The hold of the account with this id, or the newest one with this idempotency key, in any state. */
  readonly hold: Hold | undefined;
};

/** Data that a store has read of an account, for the function that decides. */
export type MeterRecord = MeterReading & {
  /** Unused task id. */
  readonly newTaskId: TaskId;
  /** The requests of the account at `rate`; empty if there is none. */
  readonly log: AdmissionLog;
  /** The entry of the account with this `orderId` or `idempotencyKey`. */
  readonly entry: MeterEntry | undefined;
};

/** Changes of an account, written in one transaction. */
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

/** An entry of a meter's ledger with its page cursor. */
export type MeterLine = { readonly cursor: LedgerCursor; readonly entry: MeterEntry };

/**
 * Stores the accounts of a meter (application/credits/meter.ts). An account that was never written has no credits and
 * no holds. Throws if the store is unreachable.
 */
export interface MeterStore {
  /**
   * Reads the account, calls `decide`, and writes the change that it returns, in one transaction; without a change it
   * writes nothing. Returns the answer of `decide` after the commit. No other change of the account happens in between,
   * in any process. `decide` is pure and may be called again. If it throws, nothing is written, and the error is
   * thrown.
   */
  change<Answer>(
    account: AccountId,
    query: MeterQuery,
    decide: (record: MeterRecord) => { readonly change?: MeterChange | undefined; readonly answer: Answer },
  ): Awaitable<Answer>;

  /** A snapshot of the account. Waits for no change and writes nothing. */
  read(account: AccountId, query: Pick<MeterQuery, "taskId">): Awaitable<MeterReading>;

  /** The ledger of the account, newest entry first, at most `limit`, older than `before`. */
  entries(account: AccountId, limit: number, before: LedgerCursor | undefined): Awaitable<readonly MeterLine[]>;
}

/** A store that can join a transaction of its caller. */
export type JoiningMeterStore<Connection> = MeterStore & {
  /**
   * A store that works in the open transaction of this connection, so that the caller's commit or rollback includes its
   * writes. Each call throws if no transaction is open.
   */
  readonly within: (connection: Connection) => MeterStore;
};
