import type { UseCases } from "../../../application/create-application.js";
import { rulePredicate } from "../../wording/rule-predicate.js";
import { plainText } from "../replies/reply.js";
import { readBytes } from "../requests/json-body.js";
import type { Handler } from "../router.js";

/** `POST /payments/stripe`: Stripe reports that an order is paid. The signature is the only authentication. */
export function paymentWebhookRoute(receive: UseCases["credits"]["receivePaymentWebhook"]): Handler {
  return async (exchange) => {
    const body = await readBytes(exchange, WEBHOOK_BYTES_MAX);
    if (body.isErr()) return plainText(400, `request body: ${rulePredicate(body.error.rule)}`);
    const received = await receive(body.value, exchange.header("stripe-signature") ?? "");
    // An unknown order stays unknown: an error status would only make Stripe retry the webhook for days.
    return received.isErr() && received.error.kind === "unverified_webhook"
      ? plainText(400, received.error.reason)
      : plainText(200, "accepted");
  };
}

/** `POST /hooks/{provider}`: a provider reports progress of a generation. Only verified webhooks have an effect. */
export function providerWebhookRoute(receive: UseCases["panoramas"]["receiveProviderWebhook"]): Handler {
  return async (exchange) => {
    const body = await readBytes(exchange, WEBHOOK_BYTES_MAX);
    if (body.isErr()) return plainText(400, `request body: ${rulePredicate(body.error.rule)}`);
    const { headers, query } = exchange;
    const received = await receive(exchange.parameter("provider"), { body: body.value, headers, query });
    if (received.isOk()) return plainText(200, "accepted");
    switch (received.error.kind) {
      case "not_found":
        return plainText(404, "No webhooks are accepted here.");
      case "unverified_webhook":
        return plainText(400, received.error.reason);
      case "provider_unavailable":
        // 503 makes the sender retry. The reason is internal and is not reported to the sender.
        return plainText(503, "The webhook cannot be verified now.");
    }
  };
}

/** Replicate's webhooks repeat the input of the generation, which may contain a small image. */
const WEBHOOK_BYTES_MAX = 512 * 1024;
