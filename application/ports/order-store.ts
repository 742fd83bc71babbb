import type { AccountId } from "../../domain/account.js";
import type { Order, OrderId, PaidOrder, PendingOrder } from "../../domain/order.js";

/** Stores orders of credits. Throws if the store is unreachable or a row is unreadable. */
export interface OrderStore {
  /** Throws if the account does not exist. */
  insert(order: PendingOrder): Promise<void>;
  find(id: OrderId): Promise<Order | undefined>;
  /** All orders of the account, newest first. */
  list(account: AccountId): Promise<Order[]>;
  countPaid(account: AccountId): Promise<number>;
  /**
   * If the stored order is pending: stores the paid order, its ledger entry and the account's new balance, in one
   * transaction. Otherwise writes nothing.
   */
  pay(order: PaidOrder): Promise<void>;
}
