import { err, ok, type Result } from "neverthrow";
import type { OrderFilter, OrderStore } from "../../../application/ports/stores/ledger-store.js";
import { purchaseEntry } from "../../../domain/credits/ledger.js";
import type {
  Order,
  OrderCheckout,
  OrderId,
  PaidOrder,
  PendingOrder,
  RefundedOrder,
} from "../../../domain/credits/order.js";
import {
  mergeReturns,
  type PaymentReturn,
  UNKNOWN_RETURN_KEPT_MILLISECONDS,
} from "../../../domain/credits/payment-return.js";
import type { AccountId } from "../../../domain/ids.js";
import { entitiesOf, inUnitOfWork, rowOf } from "../orm/entities.js";
import { bookEntry } from "../prepared/book-entry.js";
import { lockAccount } from "../prepared/lock-account.js";
import { lockPayment, returnsOf, settleOrder } from "../prepared/settle-order.js";
import { newOrder, returnRow, toOrder, toReturn } from "../rows/account-rows.js";
import { OrderTable } from "../schema/schema.js";
import type { Database, Sql } from "../sql/database.js";
import { insert } from "../sql/insert.js";
import { update } from "../sql/statement.js";

/** Orders in SQLite or PostgreSQL. */
export class SqlOrderStore implements OrderStore {
  private readonly database: Database;
  private readonly onPaid: (order: PaidOrder) => void;

  /** `onPaid` receives each order once, when its payment is committed. It must not throw. */
  constructor(database: Database, onPaid: (order: PaidOrder) => void = () => {}) {
    this.database = database;
    this.onPaid = onPaid;
  }

  async insert(order: PendingOrder): Promise<void> {
    await this.entities.insert(OrderTable, newOrder(order));
  }

  place<Refusal>(
    order: PendingOrder,
    since: Date,
    decide: (pendingOrders: number) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal>> {
    const { accountId } = order;
    return inUnitOfWork(this.database, async (manager, sql) => {
      await lockAccount(sql, accountId);
      const pending = { accountId, paidAt: null, createdAt: { $gt: since } };
      const decided = decide(await manager.count(OrderTable, pending));
      if (decided.isOk()) manager.create(OrderTable, newOrder(order));
      return decided;
    });
  }

  async recordCheckout(id: OrderId, { sessionId, token, priceCents, currency }: OrderCheckout): Promise<void> {
    const checkout = { checkoutSession: sessionId, checkoutToken: token, priceCents, currency };
    await this.entities.nativeUpdate(OrderTable, { id, checkoutSession: null }, checkout);
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

  private get entities() {
    return entitiesOf(this.database);
  }

  async pay(order: PaidOrder | RefundedOrder): Promise<void> {
    const { id, paidAt, paymentId } = order;
    const paidNow = await this.database.transaction<PaidOrder | undefined, never>(async (sql) => {
      if (paymentId !== undefined) await lockPayment(sql, this.database.dialect, paymentId);
      const paid = await sql(
        `update credit_order set paid_at = ?, payment_id = coalesce(payment_id, ?)
        where id = ? and paid_at is null returning *`,
        [paidAt, paymentId ?? null, id],
      );
      const named =
        paid.length > 0 || paymentId === undefined
          ? []
          : await sql("update credit_order set payment_id = ? where id = ? and payment_id is null returning *", [
              paymentId,
              id,
            ]);
      const [row] = [...paid, ...named];
      if (row === undefined) return ok(undefined);
      const stored = toOrder(row);
      if (stored.state !== "paid" || paid.length === 0) {
        await settleOrder(sql, stored, paidAt);
        return ok(undefined);
      }
      const { current } = await lockAccount(sql, stored.accountId);
      await bookEntry(sql, current, purchaseEntry(stored));
      await settleOrder(sql, stored, paidAt);
      return ok(stored);
    });
    const counted = paidNow._unsafeUnwrap();
    if (counted !== undefined) this.onPaid(counted);
  }

  async recordReturn(paymentId: string, returned: PaymentReturn, now: Date) {
    const recorded = await this.database.transaction<{ order: Order; change: number } | undefined, never>(
      async (sql) => {
        await lockPayment(sql, this.database.dialect, paymentId);
        const [row] = await sql("update credit_order set payment_id = payment_id where payment_id = ? returning *", [
          paymentId,
        ]);
        // With its order: `forgetUnknown` then reads unknown ones only.
        await storeReturn(sql, returned, { paymentId, orderId: row && toOrder(row).id, now });
        if (row !== undefined) return ok(await settleOrder(sql, toOrder(row), now));
        await forgetUnknown(sql, now);
        return ok(undefined);
      },
    );
    return recorded._unsafeUnwrap();
  }

  returnByHand<Refusal>(
    id: OrderId,
    now: Date,
    decide: (order: Order, returns: readonly PaymentReturn[]) => Result<PaymentReturn, Refusal>,
  ): Promise<Result<Order, Refusal>> {
    return this.database.transaction(async (sql) => {
      const [row] = await sql("update credit_order set credits = credits where id = ? returning *", [id]);
      if (row === undefined) throw new Error(`there is no order ${id}`);
      const order = toOrder(row);
      const decided = decide(order, await returnsOf(sql, order));
      if (decided.isErr()) return err(decided.error);
      await storeReturn(sql, decided.value, { orderId: id, now });
      return ok((await settleOrder(sql, order, now)).order);
    });
  }

  async returns(id: OrderId): Promise<PaymentReturn[]> {
    const order = await this.find(id);
    return order === undefined ? [] : returnsOf(this.database.sql, order);
  }
}

/** Merges it with what was known. Its payment or order is locked. */
const storeReturn = async (
  sql: Sql,
  returned: PaymentReturn,
  {
    paymentId,
    orderId,
    now,
  }: { readonly paymentId?: string; readonly orderId?: OrderId | undefined; readonly now: Date },
): Promise<void> => {
  const [known] = await sql("select * from payment_return where id = ?", [returned.id]);
  const merged = known === undefined ? returned : mergeReturns(toReturn(known), returned);
  const row = returnRow(merged, paymentId ?? null, orderId ?? null);
  if (known === undefined) return insert(sql, "payment_return", { ...row, recorded_at: now });
  const { text, parameters } = update("payment_return", row, { id: returned.id });
  await sql(text, parameters);
};

const forgetUnknown = async (sql: Sql, now: Date): Promise<void> => {
  await sql(
    `delete from payment_return where recorded_at < ? and order_id is null
    and not exists (select 1 from credit_order where credit_order.payment_id = payment_return.payment_id)`,
    [new Date(now.getTime() - UNKNOWN_RETURN_KEPT_MILLISECONDS)],
  );
};
