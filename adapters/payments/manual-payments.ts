import { err, ok } from "neverthrow";
import { unverifiedWebhook } from "../../application/errors.js";
import type { Payments } from "../../application/ports/payments.js";

/** Payments outside this service: the operator receives the money and runs `panorama order pay`. */
export class ManualPayments implements Payments {
  async checkout() {
    return ok(undefined);
  }

  payment() {
    return err(unverifiedWebhook("This service accepts no payment webhooks."));
  }

  async since() {
    return err({ kind: "payments_unavailable" as const, reason: "STRIPE_SECRET_KEY is not set" });
  }
}
