import type { AttemptResult } from "../../domain/webhooks/webhook-delivery.js";
import type { EndpointSecret } from "../../domain/webhooks/webhook-endpoint.js";

/** One attempt to deliver an event. */
export type OutgoingWebhook = {
  readonly url: string;
  /** The `webhook-id`. */
  readonly id: string;
  /** JSON. */
  readonly body: string;
  /** Secrets; each one adds a signature. */
  readonly secrets: readonly EndpointSecret[];
  readonly at: Date;
  /** Sent with it. */
  readonly traceparent?: string | undefined;
};

/** Sends webhooks as Standard Webhooks defines them. */
export interface WebhookSender {
  /** Resolves within ten seconds, even if the receiver never answers. Never rejects. */
  send(webhook: OutgoingWebhook): Promise<AttemptResult>;
}
