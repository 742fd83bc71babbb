import { err, ok, type Result } from "neverthrow";
import type { Account } from "../../domain/accounts/account.js";
import {
  admitOrder,
  type CreditPack,
  type Order,
  openOrder,
  PENDING_ORDERS_WINDOW_MILLISECONDS,
  type PendingOrder,
  payWith,
  type TooManyPendingOrders,
} from "../../domain/credits/order.js";
import { type NotFound, notFound, type UnverifiedWebhook } from "../errors.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { PaymentReport, PaymentsUnavailable } from "../ports/payments.js";
import type { AccessRefused } from "../ports/stores/access.js";

/** `checkoutUrl`: where the customer pays; `undefined` if the operator confirms payments. */
type PlacedOrder = { readonly order: PendingOrder; readonly checkoutUrl: string | undefined };

/** The order was cancelled, or paid by the operator, while its checkout was opened. */
export type OrderClosed = { readonly kind: "order_canceled" | "order_paid" };

/** Orders that customers pay through the payment service. */
export function purchases(ports: Pick<ApplicationPorts, "orders" | "payments" | "clock" | "ids" | "reporter">) {
  const { orders, payments, clock, ids } = ports;
  return {
    /**
     * Orders a pack for a customer; returns the URL of its checkout. The account receives the credits when the order is
     * paid (`payOrder`). If the payment service is unavailable, the order is withdrawn: nobody knows a URL to pay it.
     */
    async buy(
      account: Account,
      pack: CreditPack,
    ): Promise<Result<PlacedOrder, TooManyPendingOrders | PaymentsUnavailable | AccessRefused | OrderClosed>> {
      const now = clock.now();
      const price = { priceCents: pack.priceCents, currency: pack.currency };
      const order = openOrder(ids.orderId(), account.id, pack.credits, now, price);
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
      const checkout = { sessionId, token, ...price };
      // Store the checkout before the customer knows its URL: then its payment always finds it.
      if (!(await orders.recordCheckout(order.id, checkout))) {
        await payments.expire(sessionId);
        return err({ kind: (await orders.find(order.id)) === undefined ? "order_canceled" : "order_paid" });
      }
      return ok({ order: { ...order, checkout, price: undefined }, checkoutUrl: url });
    },

    /**
     * Handles a webhook of the payment service: a payment, a refund or a dispute. Returns the order; `undefined` for
     * other webhooks.
     */
    async receivePaymentWebhook(
      body: Uint8Array,
      signature: string,
    ): Promise<Result<Order | undefined, UnverifiedWebhook | NotFound>> {
      const received = payments.payment(body, signature);
      if (received.isErr()) return err(received.error);
      if (received.value === undefined) return ok(undefined);
      return (await applyPaymentReport(ports, received.value)).map((applied) => applied?.order);
    },
  };
}

/** `changes`: the orders with changed credits, and the change. */
type Reconciliation = {
  readonly reports: number;
  readonly changes: readonly { readonly orderId: string; readonly credits: number }[];
};

/** The payment service and the ledger, compared for the operator. */
export function reconciliations(ports: Pick<ApplicationPorts, "orders" | "payments" | "clock" | "reporter">) {
  return {
    /**
     * After a restore or lost webhooks: applies the payments, refunds and disputes of the payment service that are
     * missing here. Payments come first. A repetition changes nothing.
     */
    async reconcilePayments(from: Date): Promise<Result<Reconciliation, PaymentsUnavailable>> {
      const reports = await ports.payments.since(from);
      if (reports.isErr()) return err(reports.error);
      const changes: { orderId: string; credits: number }[] = [];
      for (const report of reports.value) {
        const applied = (await applyPaymentReport(ports, report)).unwrapOr(undefined);
        if (applied === undefined || applied.change === 0) continue;
        changes.push({ orderId: applied.order.id, credits: applied.change });
      }
      return ok({ reports: reports.value.length, changes });
    },
  };
}

/** `change`: the change of the account's credits, may be negative. */
type AppliedReport = { readonly order: Order; readonly change: number };

/**
 * Applies a report of the payment service. Repeated and reordered reports have the same result. The operator may sell
 * other products through the same payment account: a payment that does not match its order, and a refund of an unknown
 * payment, are reported and ignored.
 */
async function applyPaymentReport(
  { orders, clock, reporter }: Pick<ApplicationPorts, "orders" | "clock" | "reporter">,
  report: PaymentReport,
): Promise<Result<AppliedReport | undefined, NotFound>> {
  const now = clock.now();
  if ("returned" in report) {
    const { paymentId, returned } = report;
    const recorded = await orders.recordReturn(paymentId, returned, now);
    const { id: returnId, kind: what } = returned;
    const orderId = recorded?.order.id;
    reporter.report({ kind: "payment_returned", returnId, what, paymentId, orderId, credits: recorded?.change ?? 0 });
    return ok(recorded);
  }
  const { orderId, sessionId, amountCents, currency } = report;
  const ignored = { kind: "payment_ignored", orderId, sessionId, amountCents, currency } as const;
  const unknown = () => {
    reporter.report({ ...ignored, differences: ["order"] });
    return err(notFound(`There is no order ${orderId}.`));
  };
  const order = await orders.find(orderId);
  if (order === undefined) return unknown();
  const known = payWith(order, report, now).orElse((refusal) =>
    refusal.kind === "already_paid" ? ok(refusal.order) : err(refusal),
  );
  if (known.isErr()) {
    reporter.report({ ...ignored, differences: known.error.differences });
    return ok(undefined);
  }
  // Also if it is paid: an order paid by hand has no payment id, and gets it now, so that refunds find the order.
  // What is stored includes refunds that arrived before the payment.
  const stored = await orders.pay(known.value);
  if (stored === undefined) return unknown();
  return ok({ order: stored, change: remainingCreditsOf(stored) - remainingCreditsOf(order) });
}

/** Credits of the order that the account still has or has spent. */
function remainingCreditsOf(order: Order): number {
  return order.state === "pending" ? 0 : order.credits - (order.takenBack ?? 0);
}
