import type { Result } from "neverthrow";
import type { Email } from "../../domain/account.js";
import type { CreditPack } from "../../domain/credit-pack.js";
import type { OrderId, PendingOrder } from "../../domain/order.js";
import type { UnverifiedWebhook } from "../errors.js";

/** The payment service is unreachable or returns an error. The call may be retried. */
export type PaymentsUnavailable = { readonly kind: "payments_unavailable"; readonly reason: string };

/** The payment service. */
export interface Payments {
  /** Returns the URL where the customer pays the order; `undefined` if the operator collects payments otherwise. */
  checkout(
    order: PendingOrder,
    pack: CreditPack,
    email: Email,
  ): Promise<Result<string | undefined, PaymentsUnavailable>>;
  /**
   * Verifies a webhook of the payment service and returns the order that it reports as paid; `undefined` for any other
   * verified webhook. The same webhook may arrive repeatedly.
   */
  paidOrder(body: Uint8Array, signature: string): Result<OrderId | undefined, UnverifiedWebhook>;
}
