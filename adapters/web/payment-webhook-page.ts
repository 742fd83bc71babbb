import type { ReceivePaymentWebhook } from "../../application/credits/receive-payment-webhook.js";
import { type Page, plainText } from "./page.js";

/** `POST /payments/stripe`: where Stripe tells that an order is paid. Its signature is the only way in. */
export const paymentWebhookPage = (take: ReceivePaymentWebhook): Page => ({
  method: "POST",
  path: "/payments/stripe",
  body: "raw",
  handle: async ({ readBody, headers }) => {
    const { bytes } = await readBody();
    const taken = await take(bytes, headers["stripe-signature"] ?? "");
    // An order that is not there will not be there later: an error would only have the notice sent again for days.
    return taken.isErr() && taken.error.kind === "unverified_webhook"
      ? plainText(400, taken.error.reason)
      : plainText(200, "taken");
  },
});
