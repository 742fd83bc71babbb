import { err, ok, type Result } from "neverthrow";
import { purchaseEntry } from "../../../domain/credits/ledger.js";
import type { Order, OrderId, PaidOrder, RefundedOrder } from "../../../domain/credits/order.js";
import {
  mergeReturns,
  type PaymentReturn,
  UNKNOWN_RETURN_KEPT_MILLISECONDS,
} from "../../../domain/credits/payment-return.js";
import { returnRow, toOrder, toReturn } from "../rows/account-rows.js";
import type { Database, Sql } from "../sql/database.js";
import { insert } from "../sql/insert.js";
import { update } from "../sql/statement.js";
import { bookEntry } from "./book-entry.js";
import { lockAccount } from "./lock-account.js";
import { lockPayment, returnsOf, settleOrder } from "./settle-order.js";

/** Returns the order if it is paid by this, and was not before. */
export const payOrder = async (
  database: Database,
  order: PaidOrder | RefundedOrder,
): Promise<PaidOrder | undefined> => {
  const { id, paidAt, paymentId } = order;
  const paidNow = await database.transaction<PaidOrder | undefined, never>(async (sql) => {
    if (paymentId !== undefined) await lockPayment(sql, database.dialect, paymentId);
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
  return paidNow._unsafeUnwrap();
};

export const recordReturn = async (database: Database, paymentId: string, returned: PaymentReturn, now: Date) => {
  const recorded = await database.transaction<{ order: Order; change: number } | undefined, never>(async (sql) => {
    await lockPayment(sql, database.dialect, paymentId);
    const [row] = await sql("update credit_order set payment_id = payment_id where payment_id = ? returning *", [
      paymentId,
    ]);
    // With its order: `forgetUnknown` then reads unknown ones only.
    await storeReturn(sql, returned, { paymentId, orderId: row && toOrder(row).id, now });
    if (row !== undefined) return ok(await settleOrder(sql, toOrder(row), now));
    await forgetUnknown(sql, now);
    return ok(undefined);
  });
  return recorded._unsafeUnwrap();
};

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
