import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "./account.js";
import type { Brand } from "./brand.js";
import type { Credits } from "./credits.js";
import { type InvalidRequest, invalidRequest } from "./invalid-request.js";

export type OrderId = Brand<string, "OrderId">;

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
export type PendingOrder = OrderCore & { readonly state: "pending" };
export type PaidOrder = OrderCore & { readonly state: "paid"; readonly paidAt: Date };

export type AlreadyPaid = { readonly kind: "already_paid"; readonly order: PaidOrder };

const ORDER_CREDITS_MAX = 1_000_000;

/** An order is for 1 to 1,000,000 credits. */
export const parseOrderCredits = (amount: number): Result<Credits, InvalidRequest> =>
  Number.isInteger(amount) && amount >= 1 && amount <= ORDER_CREDITS_MAX
    ? ok(amount as Credits)
    : err(invalidRequest("credits", { name: "integer", min: 1, max: ORDER_CREDITS_MAX, actual: amount }));

export const pay = (order: Order, now: Date): Result<PaidOrder, AlreadyPaid> =>
  order.state === "pending" ? ok({ ...order, state: "paid", paidAt: now }) : err({ kind: "already_paid", order });
