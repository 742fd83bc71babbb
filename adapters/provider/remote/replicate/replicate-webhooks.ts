import { createHmac } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import { type UnverifiedWebhook, unverifiedWebhook } from "../../../../application/errors.js";
import type { Clock } from "../../../../application/ports/clock.js";
import type { ProviderUnavailable } from "../../../../application/ports/generation-provider.js";
import type { IncomingWebhook, ProviderWebhooks } from "../../../../application/ports/provider-webhooks.js";
import type { TaskId } from "../../../../domain/task-id.js";
import type { UpstreamHttp } from "../calls/upstream-http.js";
import { equalBytes } from "../webhooks/equal-bytes.js";
import { isRecent } from "../webhooks/is-recent.js";
import { PublishedKeys } from "../webhooks/published-keys.js";
import type { WebhookUrls } from "../webhooks/webhook-urls.js";

const secretSchema = z
  .object({ key: z.string().regex(/^whsec_[A-Za-z0-9+/]{24,}={0,2}$/) })
  .transform(({ key }) => [Buffer.from(key.slice("whsec_".length), "base64")]);

/** Replicate's notices are signed by the Standard Webhooks scheme, with a secret that its interface tells. */
export class ReplicateWebhooks implements ProviderWebhooks {
  private readonly address: WebhookUrls;
  private readonly clock: Clock;
  private readonly secrets: PublishedKeys<Buffer>;

  constructor(settings: { apiKey: string; baseUrl: string }, address: WebhookUrls, http: UpstreamHttp, clock: Clock) {
    this.address = address;
    this.clock = clock;
    const source = {
      url: `${settings.baseUrl}/webhooks/default/secret`,
      headers: { authorization: `Bearer ${settings.apiKey}` },
    };
    this.secrets = new PublishedKeys(http, clock, source, secretSchema);
  }

  async taskOf({
    body,
    headers,
    query,
  }: IncomingWebhook): Promise<Result<TaskId, UnverifiedWebhook | ProviderUnavailable>> {
    const task = this.address.taskIn(query);
    if (task.isErr()) return err(task.error);
    const { "webhook-id": id, "webhook-timestamp": timestamp = "", "webhook-signature": signature = "" } = headers;
    if (id === undefined) return err(unverifiedWebhook("There is no webhook-id."));
    if (!isRecent(timestamp, this.clock.now())) return err(unverifiedWebhook("The webhook-timestamp is not of now."));
    const signatures = signature
      .split(" ")
      .filter((one) => one.startsWith("v1,"))
      .map((one) => Buffer.from(one.slice("v1,".length), "base64"));
    const signed = await this.secrets.oneFits((secret) => {
      const right = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest();
      return signatures.some((one) => equalBytes(one, right));
    });
    return signed.andThen((fits) => (fits ? ok(task.value) : err(unverifiedWebhook("No webhook-signature fits."))));
  }
}
