import { err, ok, type Result } from "neverthrow";
import type { NotFound, UnverifiedWebhook } from "../errors.js";
import type { Payments } from "../ports/payments.js";
import { type PayOrderPorts, payOrder } from "./pay-order.js";

type Ports = PayOrderPorts & { readonly payments: Pick<Payments, "paidOrder"> };

export type ReceivePaymentWebhook = ReturnType<typeof receivePaymentWebhook>;

/** Handles a webhook of the payment service: adds a paid order's credits, once, however often the webhook arrives. */
export const receivePaymentWebhook =
  (ports: Ports) =>
  async (body: Uint8Array, signature: string): Promise<Result<void, UnverifiedWebhook | NotFound>> => {
    const paid = ports.payments.paidOrder(body, signature);
    if (paid.isErr()) return err(paid.error);
    if (paid.value === undefined) return ok(undefined);
    return (await payOrder(ports)(paid.value)).map(() => undefined);
  };
