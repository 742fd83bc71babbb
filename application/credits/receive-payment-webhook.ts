import { err, ok, type Result } from "neverthrow";
import type { NotFound, UnverifiedWebhook } from "../errors.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Payments } from "../ports/payments.js";
import { payOrder } from "./pay-order.js";

type Ports = { readonly accounts: AccountStore; readonly payments: Payments; readonly clock: Clock };

export type ReceivePaymentWebhook = ReturnType<typeof receivePaymentWebhook>;

/** A notice of the payment service: a paid order's credits are added, once, however often the notice comes. */
export const receivePaymentWebhook =
  (ports: Ports) =>
  async (notice: Uint8Array, signature: string): Promise<Result<void, UnverifiedWebhook | NotFound>> => {
    const paid = ports.payments.paidOrder(notice, signature);
    if (paid.isErr()) return err(paid.error);
    if (paid.value === undefined) return ok(undefined);
    return (await payOrder(ports)(paid.value)).map(() => undefined);
  };
