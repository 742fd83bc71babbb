import { ContainerModule } from "inversify";
import { ManualPayments } from "../../adapters/payments/manual-payments.js";
import { buyCredits } from "../../application/credits/buy-credits.js";
import { createOrder } from "../../application/credits/create-order.js";
import { payOrder } from "../../application/credits/pay-order.js";
import { readCreditTotals } from "../../application/credits/read-credit-totals.js";
import { readCredits } from "../../application/credits/read-credits.js";
import { readLedger } from "../../application/credits/read-ledger.js";
import { receivePaymentWebhook } from "../../application/credits/receive-payment-webhook.js";
import { verifyLedger } from "../../application/credits/verify-ledger.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The use cases about orders, payments and the ledger. */
export const credits = new ContainerModule(({ bind }) => {
  const { config, accounts, orders, ledger, payments, clock, ids } = tokens;

  provide(bind, tokens.payments, { config }, async ({ config: { stripe, publicUrl } }) => {
    if (stripe === undefined) return new ManualPayments();
    const { StripePayments } = await import("../../adapters/payments/stripe-payments.js");
    return new StripePayments(stripe, publicUrl);
  });

  provide(bind, tokens.createOrder, { accounts, orders, clock, ids }, createOrder);
  provide(bind, tokens.payOrder, { orders, clock }, payOrder);
  provide(bind, tokens.buyCredits, { orders, payments, clock, ids }, buyCredits);
  provide(bind, tokens.receivePaymentWebhook, { orders, payments, clock }, receivePaymentWebhook);

  provide(bind, tokens.readCredits, { ledger }, readCredits);
  provide(bind, tokens.readCreditTotals, { ledger }, readCreditTotals);
  provide(bind, tokens.readLedger, { accounts, ledger }, readLedger);
  provide(bind, tokens.verifyLedger, { ledger }, verifyLedger);
});
