import { err, ok, type Result } from "neverthrow";
import { type AccountId, type Brand, valueOrThrow } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import { type Credits, credits } from "./credits.js";
import type { DisputeState, Returned } from "./payment-return.js";

/**
 * A pack for sale on the account page. `currency`: ISO 4217 code of a currency with hundredths. `priceCents`: in these.
 */
export type CreditPack = { readonly credits: Credits; readonly priceCents: number; readonly currency: string };

/** What a pack or an order costs, in hundredths of the currency. */
export type OrderPrice = Pick<CreditPack, "priceCents" | "currency">;

/** At least one, and no two with the same number of credits. */
export type CreditPacks = readonly [CreditPack, ...CreditPack[]];

/** The default packs, smallest first. A credit is cheaper in a larger pack. */
export const CREDIT_PACKS: CreditPacks = [
  { credits: credits(100), priceCents: 900, currency: "USD" },
  { credits: credits(500), priceCents: 3900, currency: "USD" },
  { credits: credits(2000), priceCents: 12900, currency: "USD" },
];

/**
 * Maximum price of this many credits: at the pack with the highest price per credit, rounded up to a whole cent.
 * `undefined` for the default packs: only an operator sets real prices.
 */
export const priceAtMost = (amount: Credits, packs: CreditPacks): OrderPrice | undefined => {
  if (packs === CREDIT_PACKS) return undefined;
  // Divide last: rounding the price of a credit first could add a cent.
  const cents = packs.map((pack) => Math.ceil((amount * pack.priceCents) / pack.credits));
  return { priceCents: Math.max(...cents), currency: packs[0].currency };
};

/** The pack with this number of credits; `undefined` if there is none. */
export const packOf = (amount: number, packs: CreditPacks): CreditPack | undefined =>
  packs.find(({ credits }) => credits === amount);

/** Identifies an order. */
export type OrderId = Brand<string, "OrderId">;

/** Parses an id; `undefined` if the text has another form. */
export const parseOrderId = (text: string): OrderId | undefined =>
  /^[A-Za-z0-9_-]{1,40}$/.test(text) ? (text as OrderId) : undefined;

/** Creates an id from a constant. Throws if it is invalid; parse input instead. */
export const orderId = (text: string): OrderId =>
  valueOrThrow(parseOrderId(text), text, "an order id: 1 to 40 of the characters A-Z, a-z, 0-9, _ and -");

/**
 * A purchase of credits.
 *
 *   pending ──pay──▶ paid ◀──▶ partly_refunded ◀──▶ refunded
 *
 * Refunds move an order to the right; a failed refund moves it back. A dispute (payment-return.ts) does not change the
 * state; it may exist in any state but `pending`.
 */
export type Order = PendingOrder | PaidOrder | RefundedOrder;

type OrderCore = {
  readonly id: OrderId;
  readonly accountId: AccountId;
  readonly credits: Credits;
  readonly createdAt: Date;
  /** Absent: the operator records the payment, without a payment service. */
  readonly checkout?: OrderCheckout | undefined;
  /** Without a checkout: the price when a customer placed the order. Absent for an order that the operator made. */
  readonly price?: OrderPrice | undefined;
  /** The payment service's id of the payment, with which it reports refunds and disputes. */
  readonly paymentId?: string | undefined;
};
/** Refunds and dispute of a paid order. Absent: none. */
type OrderReturns = {
  readonly dispute?: DisputeState | undefined;
  readonly takenBack?: Credits | undefined;
  /** The operator's reason for taking credits back by hand. */
  readonly returnReason?: string | undefined;
};
/** The expected payment. Fixed when the checkout is opened, so later changes of the packs do not matter. */
export type OrderCheckout = OrderPrice & {
  /** The payment service's id of the checkout session. */
  readonly sessionId: string;
  /**
   * A random text that the payment service returns with the payment. It identifies our checkout among other products.
   */
  readonly token: string;
};
/** An order that is not paid. */
export type PendingOrder = OrderCore & { readonly state: "pending" };
/** An order whose credits were added to the balance. */
export type PaidOrder = OrderCore & OrderReturns & { readonly state: "paid"; readonly paidAt: Date };
/** A paid order whose money was returned, in part or all of it. `takenBack`: the credits taken back with it. */
export type RefundedOrder = OrderCore &
  OrderReturns & { readonly state: "partly_refunded" | "refunded"; readonly paidAt: Date };

/** The order was paid before; its credits are not added again. */
export type AlreadyPaid = { readonly kind: "already_paid"; readonly order: PaidOrder | RefundedOrder };

/** A payment as the payment service reports it. `undefined` members are unknown. */
export type Payment = {
  readonly orderId: OrderId;
  readonly sessionId: string;
  readonly token: string | undefined;
  readonly amountCents: number | undefined;
  /** Code of ISO 4217, in upper case. */
  readonly currency: string | undefined;
  /** The payment service's id of the payment itself. */
  readonly paymentId?: string | undefined;
};

/** All differences that a payment can have. `checkout`: the order has no checkout. */
export const PAYMENT_DIFFERENCES = ["checkout", "session", "token", "amount", "currency"] as const;
/** One of `PAYMENT_DIFFERENCES`. */
export type PaymentDifference = (typeof PAYMENT_DIFFERENCES)[number];

/** The payment is not for this order: it may be for another product that is sold through the same payment service. */
export type WrongPayment = { readonly kind: "wrong_payment"; readonly differences: readonly PaymentDifference[] };

const ORDER_CREDITS_MAX = 1_000_000;

/** Parses the size of an order: 1 to 1,000,000 credits. */
export const parseOrderCredits = (amount: number): Result<Credits, InvalidRequest> =>
  Number.isInteger(amount) && amount >= 1 && amount <= ORDER_CREDITS_MAX
    ? ok(amount as Credits)
    : err(invalidRequest("credits", { name: "integer", min: 1, max: ORDER_CREDITS_MAX, actual: amount }));

/** The price of its checkout, or the one at which it was placed; `undefined` for an order that the operator made. */
export const priceOf = ({ checkout, price }: Pick<Order, "checkout" | "price">): OrderPrice | undefined =>
  checkout ?? price;

/** A new order. It adds no credits until it is paid. */
export const openOrder = (
  id: OrderId,
  accountId: AccountId,
  credits: Credits,
  createdAt: Date,
  price?: OrderPrice,
): PendingOrder => ({ id, accountId, credits, createdAt, price, state: "pending" });

/** Pays the order with a payment of its checkout. Refuses a payment that differs in anything, even for a paid order. */
export const payWith = (order: Order, payment: Payment, now: Date): Result<PaidOrder, AlreadyPaid | WrongPayment> => {
  const differences = differencesOf(order.checkout, payment);
  if (differences.length > 0) return err({ kind: "wrong_payment", differences });
  const { paymentId = order.paymentId } = payment;
  return pay({ ...order, paymentId }, now);
};

const differencesOf = (checkout: OrderCheckout | undefined, payment: Payment): readonly PaymentDifference[] => {
  if (checkout === undefined) return ["checkout"];
  const matches: readonly (readonly [PaymentDifference, boolean])[] = [
    ["session", payment.sessionId === checkout.sessionId],
    ["token", payment.token === checkout.token],
    ["amount", payment.amountCents === checkout.priceCents],
    ["currency", payment.currency === checkout.currency],
  ];
  return matches.flatMap(([difference, isMatch]) => (isMatch ? [] : [difference]));
};

/** Pays the order by hand, for the operator. Refuses a second payment with `already_paid`. */
export const pay = (order: Order, now: Date): Result<PaidOrder, AlreadyPaid> =>
  order.state === "pending" ? ok({ ...order, state: "paid", paidAt: now }) : err({ kind: "already_paid", order });

/** The order with its refunds and dispute applied. */
export const withReturned = (
  order: PaidOrder | RefundedOrder,
  { state, dispute, takenBack, reason }: Returned,
): PaidOrder | RefundedOrder => ({
  ...order,
  state,
  dispute: dispute === "none" ? undefined : dispute,
  takenBack: takenBack === 0 ? undefined : takenBack,
  returnReason: reason,
});

/** Maximum number of pending orders that a customer may place within 24 hours. */
export const PENDING_ORDERS_MAX = 10;
/** Older pending orders do not count: an abandoned checkout never ends, and its order may be paid days later. */
export const PENDING_ORDERS_WINDOW_MILLISECONDS = 24 * 60 * 60 * 1000;

/** The account already has `limit` recent orders that are not paid. */
export type TooManyPendingOrders = { readonly kind: "too_many_pending_orders"; readonly limit: number };

/** `pendingOrders`: the account's pending orders of the last 24 hours. */
export const admitOrder = (pendingOrders: number): Result<void, TooManyPendingOrders> =>
  pendingOrders < PENDING_ORDERS_MAX
    ? ok(undefined)
    : err({ kind: "too_many_pending_orders", limit: PENDING_ORDERS_MAX });
