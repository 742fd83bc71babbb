import { err, ok, type Result } from "neverthrow";
import { type Order, payWith } from "../../domain/credits/order.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { PaymentReport } from "../ports/payments.js";
import type { Reporter } from "../ports/reporter.js";
import type { OrderStore } from "../ports/stores/order-store.js";

/** What a report of the payment service needs. */
export type PaymentReportPorts = {
  readonly orders: Pick<OrderStore, "find" | "pay" | "recordReturn">;
  readonly clock: Pick<Clock, "now">;
  readonly reporter: Pick<Reporter, "report">;
};

/** `change`: the credits that the account got, negative if they were taken. */
export type AppliedReport = { readonly order: Order; readonly change: number };

/**
 * Applies what the payment service reports, with the same result however often and in whatever order the reports
 * arrive. The operator may sell other products through the same account of the payment service: a payment that does not
 * match the order it names, and money that came back of an unknown payment, are reported and ignored.
 */
export const applyPaymentReport =
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
    const { orderId, sessionId } = report;
    const order = await orders.find(orderId);
    if (order === undefined) {
      reporter.report({ kind: "payment_ignored", orderId, sessionId, differences: ["order"] });
      return err(notFound(`There is no order ${orderId}.`));
    }
    const paid = payWith(order, report, now);
    const known = paid.orElse((refusal) => (refusal.kind === "already_paid" ? ok(refusal.order) : err(refusal)));
    if (known.isErr()) {
      reporter.report({ kind: "payment_ignored", orderId, sessionId, differences: known.error.differences });
      return ok(undefined);
    }
    // Paid by hand, or before payments were recorded: from now on its refunds are known.
    const isNamed = order.paymentId === undefined && report.paymentId !== undefined;
    if (paid.isErr() && !isNamed) return ok({ order, change: 0 });
    await orders.pay(known.value);
    // With the payment, what had come back of it before.
    const stored = (await orders.find(orderId)) ?? known.value;
    return ok({ order: stored, change: keptOf(stored) - keptOf(order) });
  };

/** What the account has of the order. */
const keptOf = (order: Order): number => (order.state === "pending" ? 0 : order.credits - (order.takenBack ?? 0));
