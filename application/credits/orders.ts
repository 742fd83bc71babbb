import { err, ok, type Result } from "neverthrow";
import type { Account } from "../../domain/accounts/account.js";
import type { Credits } from "../../domain/credits/credits.js";
import {
  admitOrder,
  type CreditPack,
  type Order,
  type OrderId,
  openOrder,
  type PaidOrder,
  PENDING_ORDERS_WINDOW_MILLISECONDS,
  type PendingOrder,
  parseOrderId,
  pay,
  type RefundedOrder,
  type TooManyPendingOrders,
} from "../../domain/credits/order.js";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Payments, PaymentsUnavailable } from "../ports/payments.js";
import type { AccessRefused } from "../ports/stores/access.js";
import type { AccountStore } from "../ports/stores/account-stores.js";
import type { OrderStore } from "../ports/stores/ledger-store.js";

type CreateOrderPorts = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly orders: Pick<OrderStore, "insert">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "orderId">;
};

/**
 * Creates an order for an account on behalf of the operator, without the limit for customers (`buyCredits`). The
 * account receives the credits when the order is paid (`payOrder`).
 */
export const createOrder =
  ({ accounts, orders, clock, ids }: CreateOrderPorts) =>
  async (accountId: AccountId, credits: Credits): Promise<Result<PendingOrder, NotFound>> => {
    if (!(await accounts.exists(accountId))) return err(notFound(`There is no account ${accountId}.`));
    const order = openOrder(ids.orderId(), accountId, credits, clock.now());
    const inserted = await orders.insert(order);
    return inserted.map(() => order).mapErr(() => notFound(`Account ${accountId} is closed.`));
  };

type BuyCreditsPorts = {
  readonly orders: Pick<OrderStore, "place" | "recordCheckout" | "cancel" | "find">;
  readonly payments: Pick<Payments, "checkout" | "expire">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "orderId">;
};

/** `checkoutUrl`: where the customer pays; `undefined` if the operator confirms payments. */
type PlacedOrder = { readonly order: PendingOrder; readonly checkoutUrl: string | undefined };

/** The order was cancelled, or paid by the operator, while its checkout was opened. */
export type OrderClosed = { readonly kind: "order_canceled" | "order_paid" };

/**
 * Orders a pack for a customer; returns the URL of its checkout. The account receives the credits when the order is
 * paid (`payOrder`). If the payment service is unavailable, the order is withdrawn: nobody knows a URL to pay it.
 */
export const buyCredits =
  ({ orders, payments, clock, ids }: BuyCreditsPorts) =>
  async (
    account: Account,
    pack: CreditPack,
  ): Promise<Result<PlacedOrder, TooManyPendingOrders | PaymentsUnavailable | AccessRefused | OrderClosed>> => {
    const now = clock.now();
    const order = openOrder(ids.orderId(), account.id, pack.credits, now);
    const since = new Date(now.getTime() - PENDING_ORDERS_WINDOW_MILLISECONDS);
    const placed = await orders.place(order, since, admitOrder);
    if (placed.isErr()) return err(placed.error);
    const opened = await payments.checkout(order, pack, account.email);
    if (opened.isErr()) {
      await orders.cancel(order.id, account.id);
      return err(opened.error);
    }
    if (opened.value === undefined) return ok({ order, checkoutUrl: undefined });
    const { id: sessionId, token, url } = opened.value;
    const checkout = { sessionId, token, priceCents: pack.priceCents, currency: pack.currency };
    // Store the checkout before the customer knows its URL: then its payment always finds it.
    if (!(await orders.recordCheckout(order.id, checkout))) {
      await payments.expire(sessionId);
      return err({ kind: (await orders.find(order.id)) === undefined ? "order_canceled" : "order_paid" });
    }
    return ok({ order: { ...order, checkout }, checkoutUrl: url });
  };

/** An order of the account, for its receipt. A foreign order gives `not_found`, as an unknown id does. */
export const readOrder =
  ({ orders }: { readonly orders: Pick<OrderStore, "find"> }) =>
  async (owner: AccountId, text: string): Promise<Result<Order, NotFound>> => {
    const id = parseOrderId(text);
    const order = id && (await orders.find(id));
    return order?.accountId === owner ? ok(order) : err(notFound("There is no such order."));
  };

/** Ports of `payOrder`. */
type PayOrderPorts = {
  readonly orders: Pick<OrderStore, "find" | "pay">;
  readonly clock: Pick<Clock, "now">;
};

/** Adds the order's credits to its account, exactly once. For a paid order it changes nothing and returns the order. */
export const payOrder =
  ({ orders, clock }: PayOrderPorts) =>
  async (id: OrderId): Promise<Result<PaidOrder | RefundedOrder, NotFound>> => {
    const order = await orders.find(id);
    if (order === undefined) return err(notFound(`There is no order ${id}.`));
    const paid = pay(order, clock.now());
    if (paid.isErr()) return ok(paid.error.order);
    const stored = await orders.pay(paid.value);
    if (stored === undefined || stored.state === "pending") {
      return err(notFound(`The order ${id} was canceled. No credits were added.`));
    }
    return ok(stored);
  };

/**
 * Deletes an unpaid order of the account without a checkout: it has moved no credits. An order with a checkout stays,
 * because its payment may still arrive; it gives `not_found`.
 */
export const cancelOrder =
  ({ orders }: { readonly orders: Pick<OrderStore, "cancel"> }) =>
  async (owner: AccountId, text: string): Promise<Result<void, NotFound>> => {
    const id = parseOrderId(text);
    return id && (await orders.cancel(id, owner))
      ? ok(undefined)
      : err(notFound("There is no such order that can be canceled."));
  };
