import type { Result } from "neverthrow";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { Credits, CreditTotals } from "../../../domain/credits/credits.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import type { AuditedTask, BoughtCredits } from "../../../domain/credits/ledger-audit.js";
import type { LedgerCursor } from "../../../domain/credits/ledger-page.js";
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
import type { AccessRefused } from "./access.js";

/** Input of the audit: standing, ledger entries and tasks of an account, including deleted tasks. */
export type AccountLedger = {
  readonly standing: Standing;
  readonly entries: readonly LedgerEntry[];
  readonly tasks: readonly Task[];
};

/** A part of an account's ledger, small enough for the memory. */
export type LedgerPart = { readonly accountId: AccountId } & (
  | { readonly kind: "standing"; readonly standing: Standing }
  /** Some tasks of the account, including deleted ones, with all entries of these tasks. */
  | { readonly kind: "tasks"; readonly tasks: readonly AuditedTask[]; readonly entries: readonly LedgerEntry[] }
  /** Some entries of the account that belong to no task. */
  | { readonly kind: "entries"; readonly entries: readonly LedgerEntry[] }
  /** Some paid orders of the account. Each order appears once at most. */
  | { readonly kind: "orders"; readonly orders: readonly BoughtCredits[] }
  /** A row that cannot be read, so the other parts do not have it. */
  | { readonly kind: "unreadable"; readonly detail: string }
  | { readonly kind: "end" }
);

/**
 * An entry with its page cursor. `balance`: the account's balance in the same snapshot. `apiKeyId`: the key that
 * created the entry's task.
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
  /** Remaining, reserved and spent credits, in one snapshot. Throws if the account does not exist. */
  totals(account: AccountId): Promise<CreditTotals>;
  /** All entries of the account, oldest first. */
  entries(account: AccountId): Promise<LedgerEntry[]>;
  /** The entries of a task, oldest first. */
  ofTask(task: TaskId): Promise<LedgerEntry[]>;
  /**
   * Entries of the account with its balance, newest first, at most `limit`, older than `before`, in one snapshot. Later
   * entries get greater numbers.
   */
  list(account: AccountId, limit: number, before: LedgerCursor | undefined): Promise<LedgerLine[]>;
  /**
   * Calls `visit` with the ledger of every account, part by part, between `standing` and `end`; parts of a few accounts
   * may alternate. Each account is read in one consistent snapshot, so running tasks cause no findings. An unreadable
   * row is passed as a part; this method does not throw for it.
   */
  walk(visit: (part: LedgerPart) => void): Promise<void>;
  /** The ledger of every account, each read in one consistent snapshot. */
  all(): AsyncIterable<AccountLedger>;
}

/** Filter of orders. Absent members match all. */
export type OrderFilter = {
  readonly account?: AccountId | undefined;
  readonly isPending?: boolean | undefined;
  /** Only orders created at this time or later. */
  readonly from?: Date | undefined;
};

/** Stores orders of credits. Throws if the store is unreachable or a row is unreadable. */
export interface OrderStore {
  /** Refuses a closed account. Throws if the account does not exist. */
  insert(order: PendingOrder): Promise<Result<void, AccessRefused>>;
  /**
   * Inserts the order if `decide` allows it. `decide` gets the number of pending orders created since `since`, under a
   * lock of the account. Refuses a closed account. Throws if the account does not exist.
   */
  place<Refusal>(
    order: PendingOrder,
    since: Date,
    decide: (pendingOrders: number) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal | AccessRefused>>;
  /** Stores the order's checkout. Returns false, and writes nothing, if it was cancelled or paid or has a checkout. */
  recordCheckout(id: OrderId, checkout: OrderCheckout): Promise<boolean>;
  /**
   * Deletes a pending order of the account without a checkout; returns true if deleted. If `pay` or `recordCheckout`
   * runs concurrently, only one of the calls takes effect.
   */
  cancel(id: OrderId, account: AccountId): Promise<boolean>;
  find(id: OrderId): Promise<Order | undefined>;
  /** Orders of the account, newest first, at most `limit`, older than the order `before`. */
  list(account: AccountId, limit: number, before: OrderId | undefined): Promise<Order[]>;
  countPaid(account: AccountId): Promise<number>;
  /**
   * Pending order: stores the paid order, its ledger entry, the new balance and the known refunds of its payment, in
   * one transaction. Paid order: stores only a new payment id, with the known refunds of that payment. New credits pay
   * the account's debt first. Returns the stored order; `undefined`, and writes nothing, if there is none any more.
   */
  pay(order: PaidOrder | RefundedOrder): Promise<Order | undefined>;
  /** Orders of all accounts, newest first, at most `limit`, older than the order `before`. */
  listAll(filter: OrderFilter, limit: number, before: OrderId | undefined): Promise<Order[]>;
  /**
   * Merges a refund or dispute into the stored ones (`mergeReturns`) and adjusts the order's credits to `returnedOf`,
   * in one transaction. Returns the order and the change of its credits. Unknown payment: returns `undefined`, and
   * keeps the return for 30 days, in case the payment is reported later.
   */
  recordReturn(
    paymentId: string,
    returned: PaymentReturn,
    now: Date,
  ): Promise<{ readonly order: Order; readonly change: number } | undefined>;
  /**
   * Records credits that the operator takes back, if `decide` allows it, and removes them from the balance in the same
   * transaction. `decide` gets the order with its refunds and disputes. Throws for an unknown order.
   */
  returnByHand<Refusal>(
    id: OrderId,
    now: Date,
    decide: (order: Order, returns: readonly PaymentReturn[]) => Result<PaymentReturn, Refusal>,
  ): Promise<Result<Order, Refusal>>;
  /** All refunds and disputes of the order, and credits taken back by hand. Not sorted. */
  returns(id: OrderId): Promise<PaymentReturn[]>;
}
