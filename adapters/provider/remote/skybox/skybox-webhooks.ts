import type { Result } from "neverthrow";
import type { UnverifiedWebhook } from "../../../../application/errors.js";
import type { IncomingWebhook, ProviderWebhooks } from "../../../../application/ports/provider-webhooks.js";
import type { TaskId } from "../../../../domain/task-id.js";
import type { WebhookUrls } from "../webhooks/webhook-urls.js";

/** Skybox AI says that it signs its notices, but not how: the proof in the address has to do. */
export class SkyboxWebhooks implements ProviderWebhooks {
  private readonly address: WebhookUrls;

  constructor(address: WebhookUrls) {
    this.address = address;
  }

  async taskOf({ query }: IncomingWebhook): Promise<Result<TaskId, UnverifiedWebhook>> {
    return this.address.taskIn(query);
  }
}
