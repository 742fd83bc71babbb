import { err, ok, type Result } from "neverthrow";
import type { Order } from "../../domain/credits/order.js";
import type { NotFound, UnverifiedWebhook } from "../errors.js";
import type { Payments } from "../ports/payments.js";
import { applyPaymentReport, type PaymentReportPorts } from "./apply-payment-report.js";

type Ports = PaymentReportPorts & { readonly payments: Pick<Payments, "payment"> };

/**
 * Handles a webhook of the payment service: an order was paid, or its money came back. Returns the order; `undefined`
 * if the webhook is about something else.
 */
export const receivePaymentWebhook = (ports: Ports) => {
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
