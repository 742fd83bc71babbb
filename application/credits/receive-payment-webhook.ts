import { err, ok, type Result } from "neverthrow";
import { type PaidOrder, payWith } from "../../domain/credits/order.js";
import { type NotFound, notFound, type UnverifiedWebhook } from "../errors.js";
import type { Payments } from "../ports/payments.js";
import type { Reporter } from "../ports/reporter.js";
import type { PayOrderPorts } from "./pay-order.js";

type Ports = PayOrderPorts & {
  readonly payments: Pick<Payments, "payment">;
  readonly reporter: Pick<Reporter, "report">;
};

/**
 * Handles a webhook of the payment service. Adds the credits of a paid order once, also if the webhook is repeated. The
 * operator may sell other products through the same account of the payment service: a payment that does not match the
 * order it names is reported and ignored.
 */
export const receivePaymentWebhook =
  ({ payments, orders, clock, reporter }: Ports) =>
  async (body: Uint8Array, signature: string): Promise<Result<PaidOrder | undefined, UnverifiedWebhook | NotFound>> => {
    const received = payments.payment(body, signature);
    if (received.isErr()) return err(received.error);
    const payment = received.value;
    if (payment === undefined) return ok(undefined);
    const { orderId, sessionId } = payment;
    const order = await orders.find(orderId);
    if (order === undefined) {
      reporter.report({ kind: "payment_ignored", orderId, sessionId, differences: ["order"] });
      return err(notFound(`There is no order ${orderId}.`));
    }
    const paid = payWith(order, payment, clock.now());
    if (paid.isOk()) {
      await orders.pay(paid.value);
      return ok(paid.value);
    }
    if (paid.error.kind === "already_paid") return ok(paid.error.order);
    reporter.report({ kind: "payment_ignored", orderId, sessionId, differences: paid.error.differences });
    return ok(undefined);
  };
