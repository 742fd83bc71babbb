import type { UseCases } from "../../../application/create-application.js";
import { rulePredicate } from "../../wording/rule-predicate.js";
import { WEBHOOK_BYTES_MAX } from "../limits/webhook-limit.js";
import { plainText } from "../replies/reply.js";
import { readBytes } from "../requests/read-bytes.js";
import type { Handler } from "../routes.js";

/** `POST /hooks/{provider}`: a provider reports progress of a generation. Only verified webhooks have an effect. */
export const providerWebhookRoute =
  (receive: UseCases["panoramas"]["receiveProviderWebhook"]): Handler =>
  async (exchange) => {
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
