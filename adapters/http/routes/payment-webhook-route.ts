import type { UseCases } from "../../../application/create-application.js";
import { rulePredicate } from "../../wording/rule-predicate.js";
import { WEBHOOK_BYTES_MAX } from "../limits/webhook-limit.js";
import { plainText } from "../replies/reply.js";
import { readBytes } from "../requests/read-bytes.js";
import type { Handler } from "../routes.js";

/** `POST /payments/stripe`: Stripe reports that an order is paid. The signature is the only authentication. */
export const paymentWebhookRoute =
  (receive: UseCases["credits"]["receivePaymentWebhook"]): Handler =>
  async (exchange) => {
    const body = await readBytes(exchange, WEBHOOK_BYTES_MAX);
    if (body.isErr()) return plainText(400, `request body: ${rulePredicate(body.error.rule)}`);
    const received = await receive(body.value, exchange.header("stripe-signature") ?? "");
    // An unknown order stays unknown: an error status would only make Stripe retry the webhook for days.
    return received.isErr() && received.error.kind === "unverified_webhook"
      ? plainText(400, received.error.reason)
      : plainText(200, "accepted");
  };
