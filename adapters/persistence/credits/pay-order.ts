import { err, ok, type Result } from "neverthrow";
import { paymentReturnEntry, purchaseEntry } from "../../../domain/credits/ledger.js";
import {
  type Order,
  type OrderId,
  type PaidOrder,
  type RefundedOrder,
  withReturned,
} from "../../../domain/credits/order.js";
import {
  mergeReturns,
  type PaymentReturn,
  returnedOf,
  UNKNOWN_RETURN_KEPT_MILLISECONDS,
} from "../../../domain/credits/payment-return.js";
import { lockAccount } from "../accounts/lock-account.js";
import { type Database, inTransaction, type Sql } from "../database/sql/database.js";
import { lockName } from "../database/sql/lock-name.js";
import { insert, update } from "../database/sql/statement.js";
import { bookEntry } from "./book-entry.js";
import { returnRow, toOrder, toReturn } from "./order-rows.js";

/** Returns the order if it is paid by this, and was not before. */
export function payOrder(database: Database, order: PaidOrder | RefundedOrder): Promise<PaidOrder | undefined> {
  const { id, paidAt, paymentId } = order;
  return inTransaction(database, async (sql) => {
    // A writer of what came back of a payment and a writer of its order wait for each other.
    if (paymentId !== undefined) await lockName(sql, database.dialect, paymentId);
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
    if (row === undefined) return undefined;
    const stored = toOrder(row);
    if (stored.state !== "paid" || paid.length === 0) {
      await settleOrder(sql, stored, paidAt);
      return undefined;
    }
    const { current } = await lockAccount(sql, stored.accountId);
    await bookEntry(sql, current, purchaseEntry(stored));
    await settleOrder(sql, stored, paidAt);
    return stored;
  });
}

export const recordReturn = (database: Database, paymentId: string, returned: PaymentReturn, now: Date) =>
  inTransaction(database, async (sql) => {
    await lockName(sql, database.dialect, paymentId);
    const [row] = await sql("update credit_order set payment_id = payment_id where payment_id = ? returning *", [
      paymentId,
    ]);
    // With its order: `forgetUnknown` then reads unknown ones only.
    await storeReturn(sql, returned, { paymentId, orderId: row && toOrder(row).id, now });
    if (row !== undefined) return settleOrder(sql, toOrder(row), now);
    await forgetUnknown(sql, now);
    return undefined;
  });

export const returnByHand = <Refusal>(
  database: Database,
  id: OrderId,
  now: Date,
  decide: (order: Order, returns: readonly PaymentReturn[]) => Result<PaymentReturn, Refusal>,
): Promise<Result<Order, Refusal>> =>
  database.transaction(async (sql) => {
    const [row] = await sql("update credit_order set credits = credits where id = ? returning *", [id]);
    if (row === undefined) throw new Error(`there is no order ${id}`);
    const order = toOrder(row);
    const decided = decide(order, await returnsOf(sql, order));
    if (decided.isErr()) return err(decided.error);
    await storeReturn(sql, decided.value, { orderId: id, now });
    return ok((await settleOrder(sql, order, now)).order);
  });

/** Merges it with the stored return. Its payment or order is locked. */
async function storeReturn(
  sql: Sql,
  returned: PaymentReturn,
  {
    paymentId,
    orderId,
    now,
  }: { readonly paymentId?: string; readonly orderId?: OrderId | undefined; readonly now: Date },
): Promise<void> {
  const [known] = await sql("select * from payment_return where id = ?", [returned.id]);
  const merged = known === undefined ? returned : mergeReturns(toReturn(known), returned);
  const row = returnRow(merged, paymentId ?? null, orderId ?? null);
  if (known === undefined) return insert(sql, "payment_return", { ...row, recorded_at: now });
  const { text, parameters } = update("payment_return", row, { id: returned.id });
  await sql(text, parameters);
}

async function forgetUnknown(sql: Sql, now: Date): Promise<void> {
  await sql(
    `delete from payment_return where recorded_at < ? and order_id is null
    and not exists (select 1 from credit_order where credit_order.payment_id = payment_return.payment_id)`,
    [new Date(now.getTime() - UNKNOWN_RETURN_KEPT_MILLISECONDS)],
  );
}

/**
 * Takes or gives back what is missing of the credits of a paid order, whose row the transaction has locked, by all that
 * is known to have come back of it. Returns the order, and by how many credits it has changed.
 */
async function settleOrder(sql: Sql, order: Order, now: Date): Promise<{ order: Order; change: number }> {
  if (order.state === "pending") return { order, change: 0 };
  const priceCents = order.checkout?.priceCents;
  const returned = returnedOf({ credits: order.credits, priceCents }, await returnsOf(sql, order));
  const change = (order.takenBack ?? 0) - returned.takenBack;
  await sql("update credit_order set returned = ?, dispute = ?, taken_back = ?, return_reason = ? where id = ?", [
    returned.state,
    returned.dispute,
    returned.takenBack,
    returned.reason ?? null,
    order.id,
  ]);
  const opened = Number(returned.dispute === "open") - Number(order.dispute === "open");
  if (opened !== 0) {
    await sql("update account set open_disputes = open_disputes + ? where id = ?", [opened, order.accountId]);
  }
  if (change !== 0) {
    const { current } = await lockAccount(sql, order.accountId);
    await bookEntry(sql, current, paymentReturnEntry(order, change, now));
  }
  return { order: withReturned(order, returned), change };
}

/** The known refunds and disputes of the order. */
export async function returnsOf(
  sql: Sql,
  { id, paymentId }: { readonly id: OrderId; readonly paymentId?: string | undefined },
): Promise<PaymentReturn[]> {
  const rows = await sql("select * from payment_return where order_id = ? or payment_id = ?", [id, paymentId ?? null]);
  return rows.map(toReturn);
}
