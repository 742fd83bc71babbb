import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "./account.js";
import { type Brand, made } from "./brand.js";
import type { Credits } from "./credits.js";
import { type InvalidRequest, invalidRequest } from "./invalid-request.js";

/** Identifies an order. */
export type OrderId = Brand<string, "OrderId">;

/** Returns `undefined` for text that cannot be an order id, so that no lookup is needed. */
export const parseOrderId = (text: string): OrderId | undefined =>
  /^[A-Za-z0-9_-]{1,40}$/.test(text) ? (text as OrderId) : undefined;

/** Makes one from a constant. Throws for text that cannot be one: input is parsed. */
export const orderId = (text: string): OrderId =>
  made(parseOrderId(text), text, "an order id: 1 to 40 of the characters A-Z, a-z, 0-9, _ and -");

/**
 * A purchase of credits.
 *
 *   pending ──pay──▶ paid
 */
export type Order = PendingOrder | PaidOrder;

type OrderCore = {
  readonly id: OrderId;
  readonly accountId: AccountId;
  readonly credits: Credits;
  readonly createdAt: Date;
};
/** An order that is not paid. */
export type PendingOrder = OrderCore & { readonly state: "pending" };
/** An order whose credits are in the balance. */
export type PaidOrder = OrderCore & { readonly state: "paid"; readonly paidAt: Date };

/** The order was paid before; its credits are not added again. */
export type AlreadyPaid = { readonly kind: "already_paid"; readonly order: PaidOrder };

const ORDER_CREDITS_MAX = 1_000_000;

/** An order is for 1 to 1,000,000 credits. */
export const parseOrderCredits = (amount: number): Result<Credits, InvalidRequest> =>
  Number.isInteger(amount) && amount >= 1 && amount <= ORDER_CREDITS_MAX
    ? ok(amount as Credits)
    : err(invalidRequest("credits", { name: "integer", min: 1, max: ORDER_CREDITS_MAX, actual: amount }));

/** A new order. It adds no credits until it is paid. */
export const openOrder = (id: OrderId, accountId: AccountId, credits: Credits, createdAt: Date): PendingOrder => ({
  id,
  accountId,
  credits,
  createdAt,
  state: "pending",
});

/** Pays the order. A second payment is refused with `already_paid`. */
export const pay = (order: Order, now: Date): Result<PaidOrder, AlreadyPaid> =>
  order.state === "pending" ? ok({ ...order, state: "paid", paidAt: now }) : err({ kind: "already_paid", order });

/** Maximum of pending orders that a customer may place within 24 hours. Older ones may still be paid, and do not count. */
export const PENDING_ORDERS_MAX = 10;
/** Pending orders older than this do not count against the limit. */
export const PENDING_ORDERS_WINDOW_MILLISECONDS = 24 * 60 * 60 * 1000;

/** The account already has `limit` recent orders that are not paid. */
export type TooManyPendingOrders = { readonly kind: "too_many_pending_orders"; readonly limit: number };

/** `pendingOrders`: the account's pending orders of the last 24 hours. */
export const admitOrder = (pendingOrders: number): Result<void, TooManyPendingOrders> =>
  pendingOrders < PENDING_ORDERS_MAX
    ? ok(undefined)
    : err({ kind: "too_many_pending_orders", limit: PENDING_ORDERS_MAX });
