import { ok, type Result } from "neverthrow";
import type { AccessRefused } from "../../../application/ports/stores/access.js";
import type { OrderFilter, OrderStore } from "../../../application/ports/stores/ledger-store.js";
import type {
  Order,
  OrderCheckout,
  OrderId,
  PaidOrder,
  PendingOrder,
  RefundedOrder,
} from "../../../domain/credits/order.js";
import type { PaymentReturn } from "../../../domain/credits/payment-return.js";
import type { AccountId } from "../../../domain/ids.js";
import { inOpenAccount } from "../accounts/in-open-account.js";
import { EntityStore, rowOf } from "../database/orm/entities.js";
import { OrderTable } from "../database/schema/schema.js";
import type { Database } from "../database/sql/database.js";
import { checkoutOf, newOrder, toOrder } from "./order-rows.js";
import { payOrder, recordReturn, returnByHand, returnsOf } from "./pay-order.js";

/** Orders in SQLite or PostgreSQL. */
export class SqlOrderStore extends EntityStore implements OrderStore {
  private readonly onPaid: (order: PaidOrder) => void;

  /** `onPaid` receives each order once, when its payment is committed. It must not throw. */
  constructor(database: Database, onPaid: (order: PaidOrder) => void = () => {}) {
    super(database);
    this.onPaid = onPaid;
  }

  insert(order: PendingOrder): Promise<Result<void, AccessRefused>> {
    return this.place(order, order.createdAt, () => ok(undefined));
  }

  place<Refusal>(
    order: PendingOrder,
    since: Date,
    decide: (pendingOrders: number) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal | AccessRefused>> {
    const { accountId } = order;
    return inOpenAccount(this.database, accountId, undefined, async (manager) => {
      const pending = { accountId, paidAt: null, createdAt: { $gt: since } };
      const decided = decide(await manager.count(OrderTable, pending));
      if (decided.isOk()) manager.create(OrderTable, newOrder(order));
      return decided;
    });
  }

  async recordCheckout(id: OrderId, checkout: OrderCheckout): Promise<boolean> {
    const pending = { id, paidAt: null, checkoutSession: null };
    return (await this.entities.nativeUpdate(OrderTable, pending, checkoutOf(checkout))) > 0;
  }

  async cancel(id: OrderId, accountId: AccountId): Promise<boolean> {
    const pending = { id, accountId, paidAt: null, checkoutSession: null };
    return (await this.entities.nativeDelete(OrderTable, pending)) > 0;
  }

  async find(id: OrderId): Promise<Order | undefined> {
    const order = await this.entities.findOne(OrderTable, id);
    return order === null ? undefined : toOrder(rowOf(OrderTable, order));
  }

  list(account: AccountId, limit: number, before: OrderId | undefined): Promise<Order[]> {
    return this.listAll({ account }, limit, before);
  }

  countPaid(accountId: AccountId): Promise<number> {
    return this.entities.count(OrderTable, { accountId, paidAt: { $ne: null } });
  }

  async listAll(
    { account, isPending = false, from }: OrderFilter,
    limit: number,
    before: OrderId | undefined,
  ): Promise<Order[]> {
    const wanted = {
      ...(account !== undefined && { accountId: account }),
      ...(isPending && { paidAt: null }),
      ...(from !== undefined && { createdAt: { $gte: from } }),
      ...(before !== undefined && { id: { $lt: before } }),
    };
    const orders = await this.entities.find(OrderTable, wanted, { orderBy: { id: "desc" }, limit });
    return orders.map((order) => toOrder(rowOf(OrderTable, order)));
  }

  async pay(order: PaidOrder | RefundedOrder): Promise<Order | undefined> {
    const paid = await payOrder(this.database, order);
    if (paid !== undefined) this.onPaid(paid);
    return this.find(order.id);
  }

  recordReturn(paymentId: string, returned: PaymentReturn, now: Date) {
    return recordReturn(this.database, paymentId, returned, now);
  }

  returnByHand<Refusal>(
    id: OrderId,
    now: Date,
    decide: (order: Order, returns: readonly PaymentReturn[]) => Result<PaymentReturn, Refusal>,
  ): Promise<Result<Order, Refusal>> {
    return returnByHand(this.database, id, now, decide);
  }

  async returns(id: OrderId): Promise<PaymentReturn[]> {
    const order = await this.find(id);
    return order === undefined ? [] : returnsOf(this.database.sql, order);
  }
}
