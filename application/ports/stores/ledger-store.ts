import type { Result } from "neverthrow";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { Credits, CreditTotals } from "../../../domain/credits/credits.js";
import type { BoughtCredits, LedgerCursor, LedgerEntry, PaidTask } from "../../../domain/credits/ledger.js";
import type {
  Order,
  OrderCheckout,
  OrderId,
  PaidOrder,
  PendingOrder,
  RefundedOrder,
} from "../../../domain/credits/order.js";
import type { PaymentReturn } from "../../../domain/credits/payment-return.js";
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

/** Which orders an operator wants to see. Absent: all. */
export type OrderFilter = {
  readonly account?: AccountId | undefined;
  readonly isPending?: boolean | undefined;
  /** Only orders that were created then or later. */
  readonly from?: Date | undefined;
};

/** Stores orders of credits. Throws if the store is unreachable or a row is unreadable. */
export interface OrderStore {
  /** Throws if the account does not exist. */
  insert(order: PendingOrder): Promise<void>;
  /**
   * Inserts the order if `decide` allows it, given how many pending orders the account has created since `since`. The
   * account is locked, so that concurrent orders are counted. Throws if the account does not exist.
   */
  place<Refusal>(
    order: PendingOrder,
    since: Date,
    decide: (pendingOrders: number) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal>>;
  /** Stores where the order can be paid. Does nothing if the order has a checkout already. */
  recordCheckout(id: OrderId, checkout: OrderCheckout): Promise<void>;
  /**
   * Deletes the order if it is one of the account's, pending and without a checkout. Returns whether it did. Of this
   * and a concurrent `pay` or `recordCheckout`, one has an effect.
   */
  cancel(id: OrderId, account: AccountId): Promise<boolean>;
  find(id: OrderId): Promise<Order | undefined>;
  /** Orders of the account, newest first, at most `limit`, older than the order `before`. */
  list(account: AccountId, limit: number, before: OrderId | undefined): Promise<Order[]>;
  countPaid(account: AccountId): Promise<number>;
  /**
   * If the stored order is pending: stores the paid order, its ledger entry and the account's new balance, in one
   * transaction, with what has already come back of its payment. Otherwise stores only a payment id that is not known
   * yet, and what has come back of that payment. Credits that arrive pay the account's debt first.
   */
  pay(order: PaidOrder | RefundedOrder): Promise<void>;
  /** Of all accounts, newest first, at most `limit`, older than the order `before`. */
  listAll(filter: OrderFilter, limit: number, before: OrderId | undefined): Promise<Order[]>;
  /**
   * Stores what is known of money of this payment that came back, merged with what was known (`mergeReturns`), and
   * takes or gives back what is missing of the credits of its order (`returnedOf`), in one transaction. Returns the
   * order, and by how many credits it has changed. `undefined`: no order with this payment is known. Then the return is
   * kept for 30 days, in case the payment is reported later.
   */
  recordReturn(
    paymentId: string,
    returned: PaymentReturn,
    now: Date,
  ): Promise<{ readonly order: Order; readonly change: number } | undefined>;
  /**
   * Stores the credits that the operator takes back, if `decide` allows it, given the order and all that is known to
   * have come back of it. Takes them from the account in the same transaction. Throws for an unknown order.
   */
  returnByHand<Refusal>(
    id: OrderId,
    now: Date,
    decide: (order: Order, returns: readonly PaymentReturn[]) => Result<PaymentReturn, Refusal>,
  ): Promise<Result<Order, Refusal>>;
  /** What is known to have come back of the order, in any order. */
  returns(id: OrderId): Promise<PaymentReturn[]>;
}
