import { ContainerModule } from "inversify";
import { ManualPayments } from "../../adapters/payments/manual-payments.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The payment service. */
export const payments = new ContainerModule(({ bind }) => {
  const { config, clock, stores } = tokens;
  provide(bind, tokens.payments, { config, clock, stores }, async ({ config, clock, stores }) => {
    const { stripe, publicUrl, mail, operatorEmail } = config;
    const to = mail && operatorEmail;
    if (stripe === undefined) {
      // Its row is written after the order's: the metric of pending orders is for what a crash loses between them.
      return new ManualPayments(async ({ id }) => {
        if (to !== undefined) await stores.letterOutbox.add({ id, kind: "pending_order", to }, clock.now());
      });
    }
    const { StripePayments } = await import("../../adapters/payments/stripe-payments.js");
    return new StripePayments(stripe, publicUrl, clock);
  });
});
