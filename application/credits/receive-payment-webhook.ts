import { err, ok, type Result } from "neverthrow";
import type { NotFound, UnverifiedWebhook } from "../errors.js";
import type { Payments } from "../ports/payments.js";
import { type PayOrderPorts, payOrder } from "./pay-order.js";

type Ports = PayOrderPorts & { readonly payments: Pick<Payments, "paidOrder"> };

/** What `receivePaymentWebhook` returns. */
export type ReceivePaymentWebhook = ReturnType<typeof receivePaymentWebhook>;

/** Handles a webhook of the payment service. Adds the credits of a paid order once, also if the webhook is repeated. */
export const receivePaymentWebhook =
  (ports: Ports) =>
  async (body: Uint8Array, signature: string): Promise<Result<void, UnverifiedWebhook | NotFound>> => {
    const paid = ports.payments.paidOrder(body, signature);
    if (paid.isErr()) return err(paid.error);
    if (paid.value === undefined) return ok(undefined);
    return (await payOrder(ports)(paid.value)).map(() => undefined);
  };
