import { returnEntry } from "../../../domain/credits/ledger.js";
import { type Order, type OrderId, withReturned } from "../../../domain/credits/order.js";
import { type PaymentReturn, returnedOf } from "../../../domain/credits/payment-return.js";
import { toReturn } from "../rows/account-rows.js";
import type { Dialect, Sql } from "../sql/database.js";
import { bookEntry } from "./book-entry.js";
import { lockAccount } from "./lock-account.js";

/**
 * Takes or gives back what is missing of the credits of a paid order, whose row the transaction has locked, by all that
 * is known to have come back of it. Returns the order, and by how many credits it has changed.
 */
export const settleOrder = async (sql: Sql, order: Order, now: Date): Promise<{ order: Order; change: number }> => {
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
    await bookEntry(sql, current, returnEntry(order, change, now));
  }
  return { order: withReturned(order, returned), change };
};

/** What is known to have come back of the order. */
export const returnsOf = async (
  sql: Sql,
  { id, paymentId }: { readonly id: OrderId; readonly paymentId?: string | undefined },
): Promise<PaymentReturn[]> => {
  const rows = await sql("select * from payment_return where order_id = ? or payment_id = ?", [id, paymentId ?? null]);
  return rows.map(toReturn);
};

/**
 * A writer of what came back of a payment and a writer of the order that the payment is for wait for each other. SQLite
 * has one writer at a time anyway.
 */
export const lockPayment = async (sql: Sql, dialect: Dialect, paymentId: string): Promise<void> => {
  if (dialect === "postgresql") await sql("select pg_advisory_xact_lock(hashtextextended(?, 0))", [paymentId]);
};
