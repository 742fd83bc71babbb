import { err, ok, type Result } from "neverthrow";
import type { Account } from "../../domain/accounts/account.js";
import {
  admitOrder,
  type CreditPack,
  openOrder,
  PENDING_ORDERS_WINDOW_MILLISECONDS,
  type PendingOrder,
  type TooManyPendingOrders,
} from "../../domain/credits/order.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { Payments, PaymentsUnavailable } from "../ports/payments.js";
import type { OrderStore } from "../ports/stores/order-store.js";

type Ports = {
  readonly orders: Pick<OrderStore, "place" | "recordCheckout" | "cancel">;
  readonly payments: Pick<Payments, "checkout">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "orderId">;
};

/** `checkoutUrl` is where the customer pays; `undefined` if the operator confirms payments. */
export type PlacedOrder = { readonly order: PendingOrder; readonly checkoutUrl: string | undefined };

/**
 * A customer orders a pack; returns the URL of its checkout. The account receives the credits when the order is paid
 * (pay-order.ts). If the payment service is unavailable, the order is withdrawn: nobody knows a URL to pay it.
 */
export const buyCredits =
  ({ orders, payments, clock, ids }: Ports) =>
  async (
    account: Account,
    pack: CreditPack,
  ): Promise<Result<PlacedOrder, TooManyPendingOrders | PaymentsUnavailable>> => {
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
    // Before the customer knows the URL: no payment can arrive for a checkout that is not stored.
    await orders.recordCheckout(order.id, checkout);
    return ok({ order: { ...order, checkout }, checkoutUrl: url });
  };
