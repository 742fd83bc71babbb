import { err, ok, type Result } from "neverthrow";
import Stripe from "stripe";
import { type UnverifiedWebhook, unverifiedWebhook } from "../../application/errors.js";
import type { Payments, PaymentsUnavailable } from "../../application/ports/payments.js";
import type { Email } from "../../domain/account.js";
import type { CreditPack } from "../../domain/credit-pack.js";
import type { OrderId, PendingOrder } from "../../domain/order.js";

type StripeSecrets = { readonly secretKey: string; readonly webhookSecret: string };

/** Stripe Checkout: the customer pays on Stripe's page; a signed webhook confirms the payment. */
export class StripePayments implements Payments {
  private readonly stripe: Stripe;
  private readonly webhookSecret: string;
  private readonly publicUrl: string;

  /** Tests set `apiUrl` to the URL of a fake Stripe. */
  constructor({ secretKey, webhookSecret }: StripeSecrets, publicUrl: string, apiUrl = "https://api.stripe.com") {
    const { hostname, port, protocol } = new URL(apiUrl);
    this.stripe = new Stripe(secretKey, {
      host: hostname,
      protocol: protocol === "http:" ? "http" : "https",
      ...(port !== "" && { port }),
      timeout: 15_000,
      maxNetworkRetries: 2,
      telemetry: false,
    });
    this.webhookSecret = webhookSecret;
    this.publicUrl = publicUrl;
  }

  /** Sends the order's id twice: as the idempotency key, and as the reference that the webhook will contain. */
  async checkout(
    order: PendingOrder,
    pack: CreditPack,
    email: Email,
  ): Promise<Result<string | undefined, PaymentsUnavailable>> {
    const account = `${this.publicUrl}/account`;
    try {
      const session = await this.stripe.checkout.sessions.create(
        {
          mode: "payment",
          client_reference_id: order.id,
          customer_email: email,
          line_items: [
            {
              quantity: 1,
              price_data: {
                currency: "usd",
                unit_amount: pack.priceUsdCents,
                product_data: { name: `${pack.credits} panorama credits` },
              },
            },
          ],
          success_url: `${account}?order=paid`,
          cancel_url: account,
        },
        { idempotencyKey: order.id },
      );
      return session.url === null ? unavailable("the checkout session has no URL") : ok(session.url);
    } catch (error) {
      if (error instanceof Stripe.errors.StripeError) return unavailable(error.message);
      throw error;
    }
  }

  paidOrder(webhook: Uint8Array, signature: string): Result<OrderId | undefined, UnverifiedWebhook> {
    try {
      const event = this.stripe.webhooks.constructEvent(Buffer.from(webhook), signature, this.webhookSecret);
      // Some payment methods complete the session days before the money arrives; only the arrival counts.
      const isPaid =
        event.type === "checkout.session.async_payment_succeeded" ||
        (event.type === "checkout.session.completed" && event.data.object.payment_status === "paid");
      return ok(isPaid ? ((event.data.object.client_reference_id ?? undefined) as OrderId | undefined) : undefined);
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error;
      return err(unverifiedWebhook("The signature is invalid."));
    }
  }
}

const unavailable = (reason: string) => err({ kind: "payments_unavailable" as const, reason });
