import { err, ok } from "neverthrow";
import { unverifiedWebhook } from "../../application/errors.js";
import type { Payments } from "../../application/ports/payments.js";
import type { PendingOrder } from "../../domain/credits/order.js";

/** Payments outside this service: the operator receives the money and runs `panorama order pay`. */
export class ManualPayments implements Payments {
  private readonly announce: (order: PendingOrder) => Promise<void>;

  /** `announce`: tells the operator of an order that waits for its payment. */
  constructor(announce: (order: PendingOrder) => Promise<void> = async () => {}) {
    this.announce = announce;
  }

  async checkout(order: PendingOrder) {
    await this.announce(order);
    return ok(undefined);
  }

  async expire() {}

  payment() {
    return err(unverifiedWebhook("This service accepts no payment webhooks."));
  }

  async since() {
    return err({ kind: "payments_unavailable" as const, reason: "STRIPE_SECRET_KEY is not set" });
  }
}
