import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { Credits, CreditTotals } from "../../../domain/credits/credits.js";
import type { BoughtCredits, LedgerCursor, LedgerEntry, PaidTask } from "../../../domain/credits/ledger.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { Task } from "../../../domain/tasks/task.js";

/** What the audit compares: an account's standing, its ledger entries and its tasks, including deleted ones. */
export type AccountLedger = {
  readonly standing: Standing;
  readonly entries: readonly LedgerEntry[];
  readonly tasks: readonly Task[];
};

/** A part of an account's ledger, small enough for the memory. */
export type LedgerPart = { readonly accountId: AccountId } & (
  | { readonly kind: "standing"; readonly standing: Standing }
  /** Some tasks of the account, deleted ones included, with all of its entries that name them. */
  | { readonly kind: "tasks"; readonly tasks: readonly PaidTask[]; readonly entries: readonly LedgerEntry[] }
  /** Some of its entries that name no task of the account. */
  | { readonly kind: "entries"; readonly entries: readonly LedgerEntry[] }
  /** Some of its paid orders. Each order is told at most once. */
  | { readonly kind: "orders"; readonly orders: readonly BoughtCredits[] }
  /** A row that is missing in the other parts, because it cannot be read. */
  | { readonly kind: "unreadable"; readonly detail: string }
  | { readonly kind: "end" }
);

/**
 * An entry and its number, from which the next page begins. `balance`: that of the account when it was read, by the
 * same entries. `apiKeyId`: the key of its task, if it has one.
 */
export type LedgerLine = {
  readonly cursor: LedgerCursor;
  readonly entry: LedgerEntry;
  readonly balance: Credits;
  readonly apiKeyId: ApiKeyId | undefined;
};

/**
 * Reads the ledger. The other stores write an entry in the transaction of the change that it records. Throws if the
 * store is unreachable or a row is unreadable.
 */
export interface LedgerStore {
  /** The account's credits that are neither spent nor reserved. Throws if the account does not exist. */
  balance(account: AccountId): Promise<Credits>;
  /** What the account has bought, by what became of it, at one moment. Throws if the account does not exist. */
  totals(account: AccountId): Promise<CreditTotals>;
  /** All entries of the account, oldest first. */
  entries(account: AccountId): Promise<LedgerEntry[]>;
  /** The entries of a task, oldest first. */
  ofTask(task: TaskId): Promise<LedgerEntry[]>;
  /**
   * Entries of the account, newest first, at most `limit`, older than `before`, and the account's balance, all at one
   * moment. An entry that is written later has a greater number than all of the account that were read before.
   */
  list(account: AccountId, limit: number, before: LedgerCursor | undefined): Promise<LedgerLine[]>;
  /**
   * Calls `visit` with the ledger of every account, part by part, between `standing` and `end`; parts of a few accounts
   * may alternate. Each account is read in one consistent snapshot, so nothing looks wrong while tasks go on. An
   * unreadable row is a part; this method does not throw for it.
   */
  walk(visit: (part: LedgerPart) => void): Promise<void>;
  /** The ledger of every account, each read in one consistent snapshot. */
  all(): AsyncIterable<AccountLedger>;
}
