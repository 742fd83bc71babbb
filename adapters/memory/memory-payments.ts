import { err, ok, type Result } from "neverthrow";
import { type UnverifiedWebhook, unverifiedWebhook } from "../../application/errors.js";
import type {
  CheckoutSession,
  PaymentReport,
  Payments,
  PaymentsUnavailable,
  ReturnReport,
} from "../../application/ports/payments.js";
import type { Email } from "../../domain/accounts/account.js";
import type { CreditPack, OrderId, Payment, PendingOrder } from "../../domain/credits/order.js";

/** A customer on the page where an order is paid. */
export type Checkout = {
  readonly order: PendingOrder;
  readonly pack: CreditPack;
  readonly email: Email;
  readonly session: CheckoutSession;
};

/** A webhook of the payment service, as `Payments.payment` takes it. */
export type PaymentWebhook = { readonly body: Uint8Array; readonly signature: string };

/** A payment service in memory, where a test pays for the customer. No money moves. */
export class MemoryPayments implements Payments {
  /** While false, `checkout` returns `payments_unavailable`. */
  available = true;
  /** The orders that can be paid. */
  readonly checkouts = new Map<OrderId, Checkout>();
  /** The signed bodies, by their signature. */
  private readonly signed = new Map<string, string>();
  /** Reports, by their body. */
  private readonly reports = new Map<string, PaymentReport>();

  async checkout(
    order: PendingOrder,
    pack: CreditPack,
    email: Email,
  ): Promise<Result<CheckoutSession, PaymentsUnavailable>> {
    if (!this.available) return err({ kind: "payments_unavailable", reason: "the payment service is switched off" });
    const session = {
      id: `session_${order.id}`,
      token: crypto.randomUUID(),
      url: `https://payments.example/${order.id}`,
    };
    this.checkouts.set(order.id, { order, pack, email, session });
    return ok(session);
  }

  async expire(sessionId: string): Promise<void> {
    for (const [id, { session }] of this.checkouts) if (session.id === sessionId) this.checkouts.delete(id);
  }

  /**
   * The customer pays: returns the webhook that reports it. With `differences`, it reports another payment that names
   * the order. Throws for an order without a checkout.
   */
  pay(id: OrderId, differences: Partial<Payment> = {}): PaymentWebhook {
    const checkout = this.checkouts.get(id);
    if (checkout === undefined) throw new Error(`there is no checkout of the order ${id}`);
    const { pack, session } = checkout;
    const { priceCents: amountCents, currency } = pack;
    return this.sign({
      payment: { orderId: id, sessionId: session.id, token: session.token, amountCents, currency, ...differences },
    });
  }

  /** A genuine webhook about something else, which pays nothing. */
  otherWebhook(): PaymentWebhook {
    return this.sign({});
  }

  /** The webhook that reports money that came back. */
  giveBack(report: ReturnReport): PaymentWebhook {
    return this.sign({ payment: report });
  }

  payment(body: Uint8Array, signature: string): Result<PaymentReport | undefined, UnverifiedWebhook> {
    const text = new TextDecoder().decode(body);
    if (this.signed.get(signature) !== text) return err(unverifiedWebhook("The webhook has a wrong signature."));
    return ok(this.reports.get(text));
  }

  async since(): Promise<Result<readonly PaymentReport[], PaymentsUnavailable>> {
    return ok([...this.reports.values()]);
  }

  private sign({ payment }: { readonly payment?: PaymentReport }): PaymentWebhook {
    const signature = crypto.randomUUID();
    const text = JSON.stringify({ payment, signature });
    this.signed.set(signature, text);
    if (payment !== undefined) this.reports.set(text, payment);
    return { body: new TextEncoder().encode(text), signature };
  }
}
