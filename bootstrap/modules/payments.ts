import { ContainerModule } from "inversify";
import { ManualPayments } from "../../adapters/payments/manual-payments.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The payment service. */
export const payments = new ContainerModule(({ bind }) => {
  const { config, clock } = tokens;
  provide(bind, tokens.payments, { config, clock }, async ({ config: { stripe, publicUrl }, clock }) => {
    if (stripe === undefined) return new ManualPayments();
    const { StripePayments } = await import("../../adapters/payments/stripe-payments.js");
    return new StripePayments(stripe, publicUrl, clock);
  });
});
