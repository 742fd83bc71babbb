import type { OutgoingWebhook, WebhookSender } from "../../application/ports/webhook-sender.js";
import type { AttemptResult } from "../../domain/webhooks/webhook-delivery.js";

const DELIVERED: AttemptResult = { kind: "delivered", detail: "status 200" };

/** Keeps the webhooks that it gets instead of sending them. */
export class RecordingWebhookSender implements WebhookSender {
  /** All attempts, oldest first. */
  readonly sent: OutgoingWebhook[] = [];
  /** What the receiver answers: without a change, every webhook is delivered. */
  answer: (webhook: OutgoingWebhook) => Promise<AttemptResult> | AttemptResult = () => DELIVERED;

  async send(webhook: OutgoingWebhook): Promise<AttemptResult> {
    this.sent.push(webhook);
    return this.answer(webhook);
  }
}
