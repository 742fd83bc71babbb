import { err, ok, type Result } from "neverthrow";
import Stripe from "stripe";
import * as z from "zod";
import { type UnverifiedWebhook, unverifiedWebhook } from "../../application/errors.js";
import type { Clock } from "../../application/ports/clock.js";
import type {
  CheckoutSession,
  PaymentReport,
  Payments,
  PaymentsUnavailable,
  ReturnReport,
} from "../../application/ports/payments.js";
import type { Email } from "../../domain/accounts/account.js";
import { type CreditPack, type Payment, type PendingOrder, parseOrderId } from "../../domain/credits/order.js";
import { disputeOf, refundOf, returnOf } from "./stripe-returns.js";

type StripeSecrets = { readonly secretKey: string; readonly webhookSecret: string };

/** The key of our metadata. */
const TOKEN = "panorama_order_token";

/** Stripe Checkout: the customer pays on Stripe's page; a signed webhook confirms the payment. */
export class StripePayments implements Payments {
  private readonly stripe: Stripe;
  private readonly webhookSecret: string;
  private readonly publicUrl: string;
  private readonly clock: Pick<Clock, "now">;

  /** Webhooks must be recent by `clock`. Tests set `apiUrl` to the URL of a fake Stripe. */
  constructor(
    { secretKey, webhookSecret }: StripeSecrets,
    publicUrl: string,
    clock: Pick<Clock, "now">,
    apiUrl = "https://api.stripe.com",
  ) {
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
    this.clock = clock;
  }

  /**
   * Sends the order's id as the idempotency key, and as the reference that the webhook will contain. Other products of
   * the same Stripe account may use such a reference too, so the metadata has a random token that only this order
   * knows.
   */
  async checkout(
    order: PendingOrder,
    pack: CreditPack,
    email: Email,
  ): Promise<Result<CheckoutSession, PaymentsUnavailable>> {
    const token = crypto.randomUUID();
    const account = `${this.publicUrl}/account`;
    try {
      const session = await this.stripe.checkout.sessions.create(
        {
          mode: "payment",
          client_reference_id: order.id,
          metadata: { [TOKEN]: token },
          customer_email: email,
          line_items: [
            {
              quantity: 1,
              price_data: {
                currency: pack.currency.toLowerCase(),
                unit_amount: pack.priceCents,
                product_data: { name: `${pack.credits} panorama credits` },
              },
            },
          ],
          success_url: `${account}?order=paid`,
          cancel_url: account,
        },
        { idempotencyKey: order.id },
      );
      const { id, url } = session;
      return url === null ? unavailable("the checkout session has no URL") : ok({ id, token, url });
    } catch (error) {
      if (error instanceof Stripe.errors.StripeError) return unavailable(error.message);
      throw error;
    }
  }

  /** Stripe refuses it for a paid session. The customer waits, so it is tried once. */
  async expire(sessionId: string): Promise<void> {
    try {
      await this.stripe.checkout.sessions.expire(sessionId, {}, { timeout: 5_000, maxNetworkRetries: 0 });
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeError)) throw error;
    }
  }

  payment(webhook: Uint8Array, signature: string): Result<PaymentReport | undefined, UnverifiedWebhook> {
    const body = Buffer.from(webhook);
    const { signature: verifier } = this.stripe.webhooks;
    if (verifier === null) throw new Error("the Stripe library cannot verify signatures");
    try {
      const now = this.clock.now().getTime();
      verifier.verifyHeader(body, wellFormedItems(signature), this.webhookSecret, undefined, undefined, now);
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error;
      return err(unverifiedWebhook("The signature is invalid."));
    }
    const content = jsonOf(body);
    const event = sessionEventSchema.safeParse(content);
    if (!event.success) return ok(returnOf(content, this.clock.now()));
    const { type, data } = event.data;
    // Some payment methods complete the session days before the money arrives; only the arrival counts.
    const isPaid = type === "checkout.session.async_payment_succeeded" || data.object.payment_status === "paid";
    return ok(isPaid ? paymentOf(data.object) : undefined);
  }

  /**
   * Sessions first, because they tell which payment belongs to which order: those of the time, and those of payments
   * that came back. What began some time before may have changed since: Stripe's lists can be asked for the beginning
   * only.
   */
  async since(from: Date): Promise<Result<readonly PaymentReport[], PaymentsUnavailable>> {
    const { refunds, disputes } = this.stripe;
    try {
      const payments = await this.payments({ created: createdSince(from, DAYS_UNTIL.paid) });
      const returns: (ReturnReport | undefined)[] = [];
      const at = await this.stripeTime();
      for await (const refund of refunds.list({ created: createdSince(from, DAYS_UNTIL.refunded), limit: 100 })) {
        returns.push(refundOf(refund, at));
      }
      for await (const dispute of disputes.list({ created: createdSince(from, DAYS_UNTIL.decided), limit: 100 })) {
        returns.push(disputeOf(dispute, "charge.dispute.updated", at));
      }
      const known = returns.filter((returned) => returned !== undefined);
      const named = new Set(payments.map(({ paymentId }) => paymentId));
      for (const paymentId of new Set(known.map((returned) => returned.paymentId))) {
        if (!named.has(paymentId)) payments.push(...(await this.payments({ payment_intent: paymentId })));
      }
      return ok([...payments, ...known]);
    } catch (error) {
      if (error instanceof Stripe.errors.StripeError) return unavailable(error.message);
      throw error;
    }
  }

  private async payments(filter: Stripe.Checkout.SessionListParams): Promise<Payment[]> {
    const payments: Payment[] = [];
    for await (const session of this.stripe.checkout.sessions.list({ ...filter, limit: 100 })) {
      const { data } = sessionSchema.safeParse(session);
      const payment = data?.payment_status === "paid" ? paymentOf(data) : undefined;
      if (payment !== undefined) payments.push(payment);
    }
    return payments;
  }

  /** By Stripe's clock, as the times of its events: what changes after this call has a later one. */
  private async stripeTime(): Promise<Date> {
    const { headers } = (await this.stripe.disputes.list({ limit: 1 })).lastResponse;
    const told = new Date(headers.date ?? "");
    return Number.isNaN(told.getTime()) ? this.clock.now() : told;
  }
}

/** Maximum days until a checkout is paid, a refund succeeds or fails, and a dispute is decided. */
const DAYS_UNTIL = { paid: 30, refunded: 60, decided: 180 };

const createdSince = (from: Date, daysBefore: number): { gte: number } => ({
  gte: Math.max(0, Math.floor(from.getTime() / 1000) - daysBefore * 24 * 60 * 60),
});

/** A reference that Stripe may have expanded. */
const reference = z
  .union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)])
  .nullish()
  .transform((id) => (id && id.length <= 255 ? id : undefined));

const sessionSchema = z.object({
  id: z.string(),
  client_reference_id: z.string(),
  payment_status: z.string(),
  amount_total: z.number().nullish(),
  currency: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  payment_intent: reference,
});

/** The part of an event that counts. Stripe sends many other types, and sessions of other products of the operator. */
const sessionEventSchema = z.object({
  type: z.enum(["checkout.session.completed", "checkout.session.async_payment_succeeded"]),
  data: z.object({ object: sessionSchema }),
});

type Session = z.infer<typeof sessionSchema>;

/** Returns `undefined` for a reference that cannot be an order. */
function paymentOf(session: Session): Payment | undefined {
  const orderId = parseOrderId(session.client_reference_id);
  if (orderId === undefined) return undefined;
  const token = session.metadata?.[TOKEN];
  return {
    orderId,
    sessionId: session.id,
    token: typeof token === "string" ? token : undefined,
    amountCents: session.amount_total ?? undefined,
    currency: session.currency?.toUpperCase(),
    ...(session.payment_intent !== undefined && { paymentId: session.payment_intent }),
  };
}

/** The items of the header that can be a signature. The library throws other errors for some of the others. */
const wellFormedItems = (signature: string): string =>
  signature
    .split(",")
    .filter((item) => /^(t=\d{1,12}|v1=[0-9a-f]{64})$/.test(item))
    .join(",");

/** Returns `undefined` for bytes that are not JSON. */
function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

const unavailable = (reason: string) => err({ kind: "payments_unavailable" as const, reason });
