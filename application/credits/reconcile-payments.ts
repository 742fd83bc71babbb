import { err, ok, type Result } from "neverthrow";
import type { Payments, PaymentsUnavailable } from "../ports/payments.js";
import { applyPaymentReport, type PaymentReportPorts } from "./apply-payment-report.js";

type Ports = PaymentReportPorts & { readonly payments: Pick<Payments, "since"> };

/** `changes`: the orders whose credits have changed, and by how many. */
export type Reconciliation = {
  readonly reports: number;
  readonly changes: readonly { readonly orderId: string; readonly credits: number }[];
};

/**
 * For the operator: compares with the payment service, after a restore or lost webhooks, and applies what is missing.
 * Payments come first. A repetition changes nothing.
 */
export const reconcilePayments = (ports: Ports) => {
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
