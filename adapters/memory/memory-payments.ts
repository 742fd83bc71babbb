import { err, ok, type Result } from "neverthrow";
import { type UnverifiedWebhook, unverifiedWebhook } from "../../application/errors.js";
import type { Payments, PaymentsUnavailable } from "../../application/ports/payments.js";
import type { Email } from "../../domain/account.js";
import type { CreditPack } from "../../domain/credit-pack.js";
import type { OrderId, PendingOrder } from "../../domain/order.js";

/** A customer on the page where an order is paid. */
export type Checkout = { readonly order: PendingOrder; readonly pack: CreditPack; readonly email: Email };

/** A webhook of the payment service, as `paidOrder` takes it. */
export type PaymentWebhook = { readonly body: Uint8Array; readonly signature: string };

/** A payment service in memory, where a test pays for the customer. No money moves. */
export class MemoryPayments implements Payments {
  /** While false, `checkout` returns `payments_unavailable`. */
  available = true;
  /** The orders that can be paid. */
  readonly checkouts = new Map<OrderId, Checkout>();
  /** The signed bodies, by their signature. */
  private readonly signed = new Map<string, string>();

  async checkout(
    order: PendingOrder,
    pack: CreditPack,
    email: Email,
  ): Promise<Result<string | undefined, PaymentsUnavailable>> {
    if (!this.available) return err({ kind: "payments_unavailable", reason: "the payment service is switched off" });
    this.checkouts.set(order.id, { order, pack, email });
    return ok(`https://payments.example/${order.id}`);
  }

  /** The customer pays: returns the webhook that reports it. Throws for an order without a checkout. */
  pay(id: OrderId): PaymentWebhook {
    if (!this.checkouts.has(id)) throw new Error(`there is no checkout of the order ${id}`);
    return this.sign({ paid: id });
  }

  /** A genuine webhook about something else, which pays nothing. */
  otherWebhook(): PaymentWebhook {
    return this.sign({});
  }

  paidOrder(body: Uint8Array, signature: string): Result<OrderId | undefined, UnverifiedWebhook> {
    const text = new TextDecoder().decode(body);
    if (this.signed.get(signature) !== text) return err(unverifiedWebhook("The webhook has a wrong signature."));
    const { paid } = JSON.parse(text) as { readonly paid?: OrderId }; // signed, so it was written here
    return ok(paid);
  }

  private sign(content: { readonly paid?: OrderId }): PaymentWebhook {
    const text = JSON.stringify(content);
    const signature = crypto.randomUUID();
    this.signed.set(signature, text);
    return { body: new TextEncoder().encode(text), signature };
  }
}
