import { err, ok, type Result } from "neverthrow";
import { type Order, payWith } from "../../domain/credits/order.js";
import { type NotFound, notFound, type UnverifiedWebhook } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { PaymentReport, Payments, PaymentsUnavailable } from "../ports/payments.js";
import type { Reporter } from "../ports/reporter.js";
import type { OrderStore } from "../ports/stores/ledger-store.js";

type ReceivePaymentWebhookPorts = PaymentReportPorts & { readonly payments: Pick<Payments, "payment"> };

/**
 * Handles a webhook of the payment service: a payment, a refund or a dispute. Returns the order; `undefined` for other
 * webhooks.
 */
export const receivePaymentWebhook = (ports: ReceivePaymentWebhookPorts) => {
  const apply = applyPaymentReport(ports);
  return async (
    body: Uint8Array,
    signature: string,
  ): Promise<Result<Order | undefined, UnverifiedWebhook | NotFound>> => {
    const received = ports.payments.payment(body, signature);
    if (received.isErr()) return err(received.error);
    if (received.value === undefined) return ok(undefined);
    return (await apply(received.value)).map((applied) => applied?.order);
  };
};

type ReconcilePaymentsPorts = PaymentReportPorts & { readonly payments: Pick<Payments, "since"> };

/** `changes`: the orders with changed credits, and the change. */
type Reconciliation = {
  readonly reports: number;
  readonly changes: readonly { readonly orderId: string; readonly credits: number }[];
};

/**
 * For the operator, after a restore or lost webhooks: applies the payments, refunds and disputes of the payment service
 * that are missing here. Payments come first. A repetition changes nothing.
 */
export const reconcilePayments = (ports: ReconcilePaymentsPorts) => {
  const apply = applyPaymentReport(ports);
  return async (from: Date): Promise<Result<Reconciliation, PaymentsUnavailable>> => {
    const reports = await ports.payments.since(from);
    if (reports.isErr()) return err(reports.error);
    const changes: { orderId: string; credits: number }[] = [];
    for (const report of reports.value) {
      const applied = (await apply(report)).unwrapOr(undefined);
      if (applied === undefined || applied.change === 0) continue;
      changes.push({ orderId: applied.order.id, credits: applied.change });
    }
    return ok({ reports: reports.value.length, changes });
  };
};

/** Ports of `applyPaymentReport`. */
type PaymentReportPorts = {
  readonly orders: Pick<OrderStore, "find" | "pay" | "recordReturn">;
  readonly clock: Pick<Clock, "now">;
  readonly reporter: Pick<Reporter, "report">;
};

/** `change`: the change of the account's credits, may be negative. */
type AppliedReport = { readonly order: Order; readonly change: number };

/**
 * Applies a report of the payment service. Repeated and reordered reports have the same result. The operator may sell
 * other products through the same payment account: a payment that does not match its order, and a refund of an unknown
 * payment, are reported and ignored.
 */
const applyPaymentReport =
  ({ orders, clock, reporter }: PaymentReportPorts) =>
  async (report: PaymentReport): Promise<Result<AppliedReport | undefined, NotFound>> => {
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
  };

/** Credits of the order that the account still has or has spent. */
const remainingCreditsOf = (order: Order): number =>
  order.state === "pending" ? 0 : order.credits - (order.takenBack ?? 0);
