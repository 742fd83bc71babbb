import type { ReceiveProviderWebhook } from "../../application/background/receive-provider-webhook.js";
import { rulePredicate } from "../wording/rule-predicate.js";
import { type Page, plainText } from "./page.js";

/** `POST /hooks/{provider}`: where a provider tells that there is news of a generation. Only genuine notices get in. */
export const providerWebhookPage = (take: ReceiveProviderWebhook): Page => ({
  method: "POST",
  path: "/hooks/:provider",
  body: "raw",
  handle: async ({ params, headers, query, readBody }) => {
    const { bytes, badBody } = await readBody();
    if (badBody !== undefined) return plainText(400, `request body: ${rulePredicate(badBody.rule)}`);
    const taken = await take(params.provider ?? "", { body: bytes, headers, query });
    if (taken.isOk()) return plainText(200, "taken");
    switch (taken.error.kind) {
      case "not_found":
        return plainText(404, "No notices are taken here.");
      case "unverified_webhook":
        return plainText(400, taken.error.reason);
      case "provider_unavailable":
        // Worth sending again; why is none of the sender's business.
        return plainText(503, "The notice cannot be checked now.");
    }
  },
});
