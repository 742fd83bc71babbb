import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import { type UnverifiedWebhook, unverifiedWebhook } from "../../../../application/errors.js";
import type { Clock } from "../../../../application/ports/clock.js";
import type { ProviderUnavailable } from "../../../../application/ports/generation-provider.js";
import type { IncomingWebhook, ProviderWebhooks } from "../../../../application/ports/provider-webhooks.js";
import type { TaskId } from "../../../../domain/task-id.js";
import type { UpstreamHttp } from "../calls/upstream-http.js";
import { isRecent } from "../webhooks/is-recent.js";
import { PublishedKeys } from "../webhooks/published-keys.js";
import type { WebhookUrls } from "../webhooks/webhook-urls.js";

/** A JWK set; 32 bytes are 43 characters of base64url. */
const jwksSchema = z
  .object({ keys: z.array(z.object({ x: z.string().regex(/^[\w-]{43}$/) })) })
  .transform(({ keys }) =>
    keys.map(({ x }) => createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" })),
  );

/** fal's notices are signed with Ed25519, for all its customers with the same published keys. */
export class FalWebhooks implements ProviderWebhooks {
  private readonly address: WebhookUrls;
  private readonly clock: Clock;
  private readonly keys: PublishedKeys<KeyObject>;

  constructor(jwksUrl: string, address: WebhookUrls, http: UpstreamHttp, clock: Clock) {
    this.address = address;
    this.clock = clock;
    this.keys = new PublishedKeys(http, clock, { url: jwksUrl, headers: {} }, jwksSchema);
  }

  async taskOf({
    body,
    headers,
    query,
  }: IncomingWebhook): Promise<Result<TaskId, UnverifiedWebhook | ProviderUnavailable>> {
    const task = this.address.taskIn(query);
    if (task.isErr()) return err(task.error);
    const requestId = headers["x-fal-webhook-request-id"];
    const userId = headers["x-fal-webhook-user-id"];
    const timestamp = headers["x-fal-webhook-timestamp"] ?? "";
    const signature = Buffer.from(headers["x-fal-webhook-signature"] ?? "", "hex");
    if (requestId === undefined || userId === undefined) {
      return err(unverifiedWebhook("There is no x-fal-webhook-request-id or no x-fal-webhook-user-id."));
    }
    if (!isRecent(timestamp, this.clock.now())) {
      return err(unverifiedWebhook("The x-fal-webhook-timestamp is not of now."));
    }
    const message = [requestId, userId, timestamp, createHash("sha256").update(body).digest("hex")].join("\n");
    const signed = await this.keys.oneFits((key) => verify(null, Buffer.from(message), key, signature));
    return signed.andThen((fits) =>
      fits ? ok(task.value) : err(unverifiedWebhook("The x-fal-webhook-signature is wrong.")),
    );
  }
}
