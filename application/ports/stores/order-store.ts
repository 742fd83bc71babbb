import type { Result } from "neverthrow";
import type { AccountId } from "../../../domain/account-id.js";
import type { Order, OrderCheckout, OrderId, PaidOrder, PendingOrder } from "../../../domain/credits/order.js";

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
  find(id: OrderId): Promise<Order | undefined>;
  /** Orders of the account, newest first, at most `limit`, older than the order `before`. */
  list(account: AccountId, limit: number, before: OrderId | undefined): Promise<Order[]>;
  countPaid(account: AccountId): Promise<number>;
  /**
   * If the stored order is pending: stores the paid order, its ledger entry and the account's new balance, in one
   * transaction. Otherwise writes nothing.
   */
  pay(order: PaidOrder): Promise<void>;
}
