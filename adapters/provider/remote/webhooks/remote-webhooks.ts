import type { Result } from "neverthrow";
import type { UnverifiedWebhook } from "../../../../application/errors.js";
import type {
  IncomingWebhook,
  ProviderUnavailable,
  ProviderWebhooks,
} from "../../../../application/ports/generation-provider.js";
import type { TaskId } from "../../../../domain/ids.js";
import type { WebhookUrls } from "./webhook-urls.js";

/** Checks a provider's own signature. Unavailable: the keys cannot be fetched now. */
export type VerifySignature = (
  webhook: IncomingWebhook,
) => Promise<Result<void, UnverifiedWebhook | ProviderUnavailable>>;

/** The webhooks of one provider: each must carry a URL that this service issued, and the provider's signature. */
export class RemoteWebhooks implements ProviderWebhooks {
  private readonly urls: WebhookUrls;
  private readonly verifySignature: VerifySignature | undefined;

  /** Without `verifySignature` the URL alone decides. */
  constructor(urls: WebhookUrls, verifySignature: VerifySignature | undefined) {
    this.urls = urls;
    this.verifySignature = verifySignature;
  }

  async taskOf(webhook: IncomingWebhook): Promise<Result<TaskId, UnverifiedWebhook | ProviderUnavailable>> {
    const task = this.urls.taskIn(webhook.query);
    // The URL comes first, so that a forged one never makes this service fetch keys.
    if (task.isErr() || this.verifySignature === undefined) return task;
    return (await this.verifySignature(webhook)).map(() => task.value);
  }
}
