import { credits } from "../../../domain/credits/credits.js";
import type { Order, OrderCheckout, OrderId, OrderPrice } from "../../../domain/credits/order.js";
import type { PaymentReturn } from "../../../domain/credits/payment-return.js";
import type { AccountId } from "../../../domain/ids.js";
import { amount, branded, date, integer, oneOf, optional, type Row, text } from "../database/sql/columns.js";

export function toOrder(row: Row): Order {
  const core = {
    id: branded<Order["id"]>(row, "id"),
    accountId: branded<AccountId>(row, "account_id"),
    credits: credits(integer(row, "credits")),
    createdAt: date(row, "created_at"),
    ...toPrice(row),
    paymentId: optional(row, "payment_id", text),
  };
  const paidAt = optional(row, "paid_at", date);
  if (paidAt === undefined) return { ...core, state: "pending" };
  const takenBack = row.taken_back === 0 ? undefined : amount(row, "taken_back");
  const returnReason = optional(row, "return_reason", text);
  const dispute = row.dispute === "none" ? undefined : oneOf(row, "dispute", DISPUTES);
  return { ...core, state: oneOf(row, "returned", RETURNED), paidAt, takenBack, dispute, returnReason };
}

const RETURNED = ["paid", "partly_refunded", "refunded"] as const;
const DISPUTES = ["none", "open", "won", "lost"] as const;

export function returnRow(returned: PaymentReturn, paymentId: string | null, orderId: OrderId | null): Row {
  const core = { id: returned.id, kind: returned.kind, payment_id: paymentId, order_id: orderId };
  switch (returned.kind) {
    case "refund":
      return { ...core, cents: returned.cents, at: returned.at, state_at: returned.failedAt ?? null };
    case "total":
      return { ...core, cents: returned.cents, at: returned.at };
    case "operator":
      return { ...core, credits: returned.credits, reason: returned.reason, at: returned.at };
    case "dispute": {
      const { cents = null, at = null, transfers = null } = returned.withdrawn ?? {};
      return { ...core, state: returned.state, state_at: returned.stateAt, cents, at, transfers };
    }
  }
}

export function toReturn(row: Row): PaymentReturn {
  const id = text(row, "id");
  const kind = oneOf(row, "kind", ["refund", "total", "operator", "dispute"] as const);
  switch (kind) {
    case "refund":
      return { id, kind, cents: integer(row, "cents"), at: date(row, "at"), failedAt: optional(row, "state_at", date) };
    case "total":
      return { id, kind, cents: integer(row, "cents"), at: date(row, "at") };
    case "operator":
      return { id, kind, credits: amount(row, "credits"), reason: branded(row, "reason"), at: date(row, "at") };
    case "dispute": {
      const at = optional(row, "at", date);
      const withdrawn = at && { cents: integer(row, "cents"), at, transfers: integer(row, "transfers") };
      return { id, kind, state: oneOf(row, "state", DISPUTES), stateAt: date(row, "state_at"), withdrawn };
    }
  }
}

function toPrice(row: Row): Pick<Order, "checkout" | "price"> {
  const priceCents = optional(row, "price_cents", integer);
  if (priceCents === undefined) return {};
  const price = { priceCents, currency: text(row, "currency") };
  const sessionId = optional(row, "checkout_session", text);
  return sessionId === undefined
    ? { price }
    : { checkout: { sessionId, token: text(row, "checkout_token"), ...price } };
}

/** The row of a new order. All other columns have defaults. */
export const orderRow = (order: Order): Row => ({
  id: order.id,
  account_id: order.accountId,
  credits: order.credits,
  created_at: order.createdAt,
  paid_at: order.state === "pending" ? null : order.paidAt,
  payment_id: order.paymentId ?? null,
  ...(order.checkout && checkoutColumns(order.checkout)),
  ...(order.price && priceColumns(order.price)),
});

export const checkoutColumns = ({ sessionId, token, ...price }: OrderCheckout): Row => ({
  checkout_session: sessionId,
  checkout_token: token,
  ...priceColumns(price),
});

const priceColumns = ({ priceCents, currency }: OrderPrice): Row => ({ price_cents: priceCents, currency });
