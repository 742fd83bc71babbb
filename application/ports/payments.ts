import type { Result } from "neverthrow";
import type { Email } from "../../domain/account.js";
import type { CreditPack } from "../../domain/credit-pack.js";
import type { OrderId, PendingOrder } from "../../domain/order.js";
import type { UnverifiedWebhook } from "../errors.js";

/** The payment service cannot be reached or refuses to work; the call may be repeated. */
export type PaymentsUnavailable = { readonly kind: "payments_unavailable"; readonly reason: string };

/** Somebody who takes money for orders. */
export interface Payments {
  /** The URL at which the customer pays the order; `undefined` where the operator takes the money by other means. */
  checkout(
    order: PendingOrder,
    pack: CreditPack,
    email: Email,
  ): Promise<Result<string | undefined, PaymentsUnavailable>>;
  /**
   * The order that a notice of the payment service says is paid; `undefined` for any other genuine notice. The same
   * notice may come any number of times.
   */
  paidOrder(notice: Uint8Array, signature: string): Result<OrderId | undefined, UnverifiedWebhook>;
}
