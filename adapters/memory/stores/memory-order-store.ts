import type { Result } from "neverthrow";
import type { OrderFilter, OrderStore } from "../../../application/ports/stores/ledger-store.js";
import { returnEntry } from "../../../domain/credits/ledger.js";
import {
  type Order,
  type OrderCheckout,
  type OrderId,
  type PaidOrder,
  type PendingOrder,
  type RefundedOrder,
  withReturned,
} from "../../../domain/credits/order.js";
import {
  mergeReturns,
  type PaymentReturn,
  returnedOf,
  UNKNOWN_RETURN_KEPT_MILLISECONDS,
} from "../../../domain/credits/payment-return.js";
import type { AccountId } from "../../../domain/ids.js";
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

  async cancel(id: OrderId, account: AccountId): Promise<boolean> {
    const order = this.database.orders.get(id);
    if (order?.accountId !== account || order.state !== "pending" || order.checkout !== undefined) return false;
    return this.database.orders.delete(id);
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
    return this.ordersOf(account).filter(({ state }) => state !== "pending").length;
  }

  async pay(order: PaidOrder | RefundedOrder): Promise<void> {
    const { paymentId, paidAt } = order;
    const stored = this.database.orders.get(order.id);
    if (stored === undefined) return;
    if (stored.state === "pending") {
      this.database.recordPurchase({ ...stored, paymentId: stored.paymentId ?? paymentId, state: "paid", paidAt });
    } else if (stored.paymentId === undefined && paymentId !== undefined) {
      this.database.orders.set(order.id, { ...stored, paymentId });
    }
    this.settle(order.id, paidAt);
  }

  async listAll(
    { account, isPending = false, from }: OrderFilter,
    limit: number,
    before: OrderId | undefined,
  ): Promise<Order[]> {
    return [...this.database.orders.values()]
      .filter(({ accountId }) => account === undefined || accountId === account)
      .filter(({ state }) => !isPending || state === "pending")
      .filter(({ id, createdAt }) => (from === undefined || createdAt >= from) && (before === undefined || id < before))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit);
  }

  async recordReturn(paymentId: string, returned: PaymentReturn, now: Date) {
    this.store(returned, paymentId, now);
    const order = [...this.database.orders.values()].find((order) => order.paymentId === paymentId);
    if (order !== undefined) return this.settle(order.id, now);
    for (const [id, { of, recordedAt }] of this.database.returns) {
      const isKnown = [...this.database.orders.values()].some(({ id, paymentId }) => id === of || paymentId === of);
      if (!isKnown && now.getTime() - recordedAt.getTime() > UNKNOWN_RETURN_KEPT_MILLISECONDS)
        this.database.returns.delete(id);
    }
    return undefined;
  }

  async returnByHand<Refusal>(
    id: OrderId,
    now: Date,
    decide: (order: Order, returns: readonly PaymentReturn[]) => Result<PaymentReturn, Refusal>,
  ): Promise<Result<Order, Refusal>> {
    const order = this.database.orders.get(id);
    if (order === undefined) throw new Error(`there is no order ${id}`);
    return decide(order, this.returnsOf(order)).map((returned) => {
      this.store(returned, id, now);
      return this.settle(id, now)?.order ?? order;
    });
  }

  async returns(id: OrderId): Promise<PaymentReturn[]> {
    const order = this.database.orders.get(id);
    return order === undefined ? [] : this.returnsOf(order);
  }

  private store(returned: PaymentReturn, of: string, recordedAt: Date): void {
    const known = this.database.returns.get(returned.id);
    this.database.returns.set(
      returned.id,
      known === undefined
        ? { returned, of, recordedAt }
        : { ...known, returned: mergeReturns(known.returned, returned) },
    );
  }

  private returnsOf({ id, paymentId }: Order): PaymentReturn[] {
    return [...this.database.returns.values()]
      .filter(({ of }) => of === id || of === paymentId)
      .map(({ returned }) => returned);
  }

  /** Takes or gives back what is missing of the credits of the order. */
  private settle(id: OrderId, now: Date): { order: Order; change: number } | undefined {
    const order = this.database.orders.get(id);
    if (order === undefined || order.state === "pending") return order && { order, change: 0 };
    const priceCents = order.checkout?.priceCents;
    const returned = returnedOf({ credits: order.credits, priceCents }, this.returnsOf(order));
    const change = (order.takenBack ?? 0) - returned.takenBack;
    const account = this.database.account(order.accountId);
    const opened = Number(returned.dispute === "open") - Number(order.dispute === "open");
    const openDisputes = (account.standing.openDisputes ?? 0) + opened;
    account.standing = { ...account.standing, openDisputes: openDisputes === 0 ? undefined : openDisputes };
    if (change !== 0) this.database.book(returnEntry(order, change, now));
    const settled = withReturned(order, returned);
    this.database.orders.set(id, settled);
    return { order: settled, change };
  }

  private ordersOf(account: AccountId): Order[] {
    return [...this.database.orders.values()].filter(({ accountId }) => accountId === account);
  }
}
