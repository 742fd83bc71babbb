import type { Result } from "neverthrow";
import type { Email } from "../../domain/accounts/account.js";
import type { CreditPack, Payment, PendingOrder } from "../../domain/credits/order.js";
import type { PaymentReturn } from "../../domain/credits/payment-return.js";
import type { UnverifiedWebhook } from "../errors.js";

/** The payment service is unreachable or returns an error. The call may be retried. */
export type PaymentsUnavailable = { readonly kind: "payments_unavailable"; readonly reason: string };

/** `id` and `token` come back with the payment. The customer pays at `url`. */
export type CheckoutSession = { readonly id: string; readonly token: string; readonly url: string };

/** Money of a payment that came back. */
export type ReturnReport = { readonly paymentId: string; readonly returned: PaymentReturn };
/** What the payment service tells about orders. */
export type PaymentReport = Payment | ReturnReport;

/** The payment service. */
export interface Payments {
  /** Opens a checkout for the price of the pack; `undefined` if the operator collects payments otherwise. */
  checkout(
    order: PendingOrder,
    pack: CreditPack,
    email: Email,
  ): Promise<Result<CheckoutSession | undefined, PaymentsUnavailable>>;
  /**
   * Verifies a webhook of the payment service and returns the payment that it reports, or what came back of one;
   * `undefined` for any other verified webhook. The same webhook may arrive repeatedly, late and before earlier ones,
   * and may be about something else than our orders.
   */
  payment(body: Uint8Array, signature: string): Result<PaymentReport | undefined, UnverifiedWebhook>;
  /**
   * What webhooks have told since then, or should have, of checkouts, refunds and disputes, also of those that began
   * earlier. It may tell of more. A payment is told before what came back of it.
   */
  since(from: Date): Promise<Result<readonly PaymentReport[], PaymentsUnavailable>>;
}
