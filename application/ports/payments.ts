import type { Result } from "neverthrow";
import type { Email } from "../../domain/accounts/account.js";
import type { CreditPack, Payment, PendingOrder } from "../../domain/credits/order.js";
import type { PaymentReturn } from "../../domain/credits/payment-return.js";
import type { UnverifiedWebhook } from "../errors.js";

/** The payment service is unreachable or returns an error. The call may be retried. */
export type PaymentsUnavailable = { readonly kind: "payments_unavailable"; readonly reason: string };

/** A checkout. `url`: where the customer pays. `id` and `token`: returned with the payment. */
export type CheckoutSession = { readonly id: string; readonly token: string; readonly url: string };

/** A refund or a dispute of a payment. */
export type ReturnReport = { readonly paymentId: string; readonly returned: PaymentReturn };
/** A report of the payment service about an order. */
export type PaymentReport = Payment | ReturnReport;

/** The payment service. */
export interface Payments {
  /** Opens a checkout for the price of the pack; `undefined` if the operator collects payments otherwise. */
  checkout(
    order: PendingOrder,
    pack: CreditPack,
    email: Email,
  ): Promise<Result<CheckoutSession | undefined, PaymentsUnavailable>>;
  /** Makes a checkout that nobody knows impossible to pay, if the payment service allows it. Never rejects for that. */
  expire(sessionId: string): Promise<void>;
  /**
   * Verifies a webhook of the payment service and returns its payment, refund or dispute; `undefined` for any other
   * event. Webhooks may repeat, arrive late or out of order, or belong to other products.
   */
  payment(body: Uint8Array, signature: string): Result<PaymentReport | undefined, UnverifiedWebhook>;
  /**
   * All checkouts, refunds and disputes that changed since `from`, including missed webhooks. May include older ones. A
   * payment comes before its refunds and disputes.
   */
  since(from: Date): Promise<Result<readonly PaymentReport[], PaymentsUnavailable>>;
}
