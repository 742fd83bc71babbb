import type { EmailMessage, Mail } from "../../application/ports/mail.js";
import type { OperationalEvent, Reporter } from "../../application/ports/reporter.js";
import type { OutgoingWebhook, WebhookSender } from "../../application/ports/webhook-sender.js";
import type { AttemptResult } from "../../domain/webhooks/webhook-delivery.js";

/** Keeps every e-mail instead of sending it. */
export class RecordingMail implements Mail {
  /** Oldest first. */
  readonly messages: EmailMessage[] = [];

  post(message: EmailMessage): void {
    this.messages.push(message);
  }
}

/** Keeps every event for the operator. */
export class RecordingReporter implements Reporter {
  /** Oldest first. */
  readonly events: OperationalEvent[] = [];

  report(event: OperationalEvent): void {
    this.events.push(event);
  }

  /** The recorded events of one kind. */
  of<Kind extends OperationalEvent["kind"]>(kind: Kind): Extract<OperationalEvent, { kind: Kind }>[] {
    return this.events.filter((event): event is Extract<OperationalEvent, { kind: Kind }> => event.kind === kind);
  }
}

const DELIVERED: AttemptResult = { kind: "delivered", detail: "status 200" };

/** Keeps the webhooks that it gets instead of sending them. */
export class RecordingWebhookSender implements WebhookSender {
  /** All attempts, oldest first. */
  readonly sent: OutgoingWebhook[] = [];
  /** Answer of the receiver. By default every webhook is delivered. */
  answer: (webhook: OutgoingWebhook) => Promise<AttemptResult> | AttemptResult = () => DELIVERED;

  async send(webhook: OutgoingWebhook): Promise<AttemptResult> {
    this.sent.push(webhook);
    return this.answer(webhook);
  }
}
