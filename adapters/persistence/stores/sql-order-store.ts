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
import { orderRow, returnRow, toOrder, toReturn } from "../rows/account-rows.js";
import { bookEntry } from "../rows/book-entry.js";
import { insertIfAllowed } from "../rows/insert-if-allowed.js";
import { lockAccount } from "../rows/lock-account.js";
import { lockPayment, returnsOf, settleOrder } from "../rows/settle-order.js";
import { integer } from "../sql/columns.js";
import type { Database, Sql } from "../sql/database.js";
import { insert } from "../sql/insert.js";
import { insertion, olderThan, type Statement, update } from "../sql/statement.js";

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
    await insert(this.database.sql, "credit_order", orderRow(order));
  }

  place<Refusal>(
    order: PendingOrder,
    since: Date,
    decide: (pendingOrders: number) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal>> {
    const count = {
      text: `select cast(count(*) as integer) as counted from credit_order
        where account_id = ? and paid_at is null and created_at > ?`,
      parameters: [order.accountId, since],
    };
    const statements = { count, insertion: insertion("credit_order", orderRow(order)) };
    return insertIfAllowed(this.database, order.accountId, statements, decide);
  }

  async recordCheckout(id: OrderId, { sessionId, token, priceCents, currency }: OrderCheckout): Promise<void> {
    await this.database.sql(
      `update credit_order set checkout_session = ?, checkout_token = ?, price_cents = ?, currency = ?
      where id = ? and checkout_session is null`,
      [sessionId, token, priceCents, currency, id],
    );
  }

  async cancel(id: OrderId, account: AccountId): Promise<boolean> {
    const deleted = await this.database.sql(
      `delete from credit_order where id = ? and account_id = ? and paid_at is null and checkout_session is null
      returning id`,
      [id, account],
    );
    return deleted.length > 0;
  }

  async find(id: OrderId): Promise<Order | undefined> {
    const [row] = await this.database.sql("select * from credit_order where id = ?", [id]);
    return row && toOrder(row);
  }

  async list(account: AccountId, limit: number, before: OrderId | undefined): Promise<Order[]> {
    const older = olderThan(before);
    const rows = await this.database.sql(
      `select * from credit_order where account_id = ? ${older.text} order by id desc limit ?`,
      [account, ...older.parameters, limit],
    );
    return rows.map(toOrder);
  }

  async countPaid(account: AccountId): Promise<number> {
    const paid =
      "select cast(count(*) as integer) as orders from credit_order where account_id = ? and paid_at is not null";
    const [row] = await this.database.sql(paid, [account]);
    return integer(row ?? {}, "orders");
  }

  async listAll(
    { account, isPending = false, from }: OrderFilter,
    limit: number,
    before: OrderId | undefined,
  ): Promise<Order[]> {
    const older = olderThan(before);
    const conditions: Statement[] = [
      ...(account === undefined ? [] : [{ text: "and account_id = ?", parameters: [account] }]),
      ...(isPending ? [{ text: "and paid_at is null", parameters: [] }] : []),
      ...(from === undefined ? [] : [{ text: "and created_at >= ?", parameters: [from] }]),
      older,
    ];
    const rows = await this.database.sql(
      `select * from credit_order where true ${conditions.map(({ text }) => text).join(" ")} order by id desc limit ?`,
      [...conditions.flatMap(({ parameters }) => parameters), limit],
    );
    return rows.map(toOrder);
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
