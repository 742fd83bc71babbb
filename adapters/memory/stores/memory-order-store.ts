import type { Result } from "neverthrow";
import type { OrderStore } from "../../../application/ports/stores/order-store.js";
import type { AccountId } from "../../../domain/account-id.js";
import type { Order, OrderCheckout, OrderId, PaidOrder, PendingOrder } from "../../../domain/credits/order.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Orders in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryOrderStore implements OrderStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async insert(order: PendingOrder): Promise<void> {
    this.database.account(order.accountId);
    this.database.orders.set(order.id, order);
  }

  async place<Refusal>(
    order: PendingOrder,
    since: Date,
    decide: (pendingOrders: number) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal>> {
    this.database.account(order.accountId);
    const pending = this.ordersOf(order.accountId).filter(
      ({ state, createdAt }) => state === "pending" && createdAt > since,
    );
    const decided = decide(pending.length);
    if (decided.isOk()) this.database.orders.set(order.id, order);
    return decided;
  }

  async recordCheckout(id: OrderId, checkout: OrderCheckout): Promise<void> {
    const order = this.database.orders.get(id);
    if (order !== undefined && order.checkout === undefined) this.database.orders.set(id, { ...order, checkout });
  }

  async find(id: OrderId): Promise<Order | undefined> {
    return this.database.orders.get(id);
  }

  async list(account: AccountId, limit: number, before: OrderId | undefined): Promise<Order[]> {
    return this.ordersOf(account)
      .filter(({ id }) => before === undefined || id < before)
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit);
  }

  async countPaid(account: AccountId): Promise<number> {
    return this.ordersOf(account).filter(({ state }) => state === "paid").length;
  }

  async pay(order: PaidOrder): Promise<void> {
    if (this.database.orders.get(order.id)?.state === "pending") this.database.recordPurchase(order);
  }

  private ordersOf(account: AccountId): Order[] {
    return [...this.database.orders.values()].filter(({ accountId }) => accountId === account);
  }
}
