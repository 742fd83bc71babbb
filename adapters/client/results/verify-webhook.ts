import { err, ok, type Result } from "neverthrow";
import { type WebhookEvent, webhookEventSchema } from "../answers.js";
import { verifyWebhook as verified, WebhookError, type WebhookErrorKind, type WebhookHeaders } from "../webhooks.js";

export type { WebhookHeaders };

/** @deprecated Catch `WebhookError` of `panorama-client`. */
export type WebhookRefusal = { readonly kind: WebhookErrorKind; readonly message: string };

/** @deprecated `verifyWebhook` of `panorama-client` returns a `PanoramaEvent`. */
export type VerifiedWebhook = { readonly id: string; readonly event: WebhookEvent };

/** @deprecated Use `verifyWebhook` of `panorama-client`, which returns the event or rejects. */
export const verifyWebhook = async (
  body: string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  now: Date = new Date(),
): Promise<Result<VerifiedWebhook, WebhookRefusal>> => {
  try {
    const { id, ...event } = await verified(body, headers, secrets, { now });
    const parsed = webhookEventSchema.safeParse(event);
    return parsed.success
      ? ok({ id, event: parsed.data })
      : err({ kind: "unknown_body", message: "The body of the webhook is no known event." });
  } catch (error) {
    if (error instanceof WebhookError) return err({ kind: error.kind, message: error.message });
    throw error;
  }
};
