import { createHmac } from "node:crypto";
import { err, ok } from "neverthrow";
import * as z from "zod";
import { unverifiedWebhook } from "../../../../application/errors.js";
import type { Clock } from "../../../../application/ports/clock.js";
import type { UpstreamHttp } from "../calls/upstream-http.js";
import type { ProviderAccess } from "../dialect.js";
import { equalBytes, isRecent, PublishedKeys } from "../webhooks/signatures.js";
import type { VerifySignature } from "../webhooks/webhook-urls.js";

const secretSchema = z
  .object({ key: z.string().regex(/^whsec_[A-Za-z0-9+/]{24,}={0,2}$/) })
  .transform(({ key }) => [Buffer.from(key.slice("whsec_".length), "base64")]);

/** Replicate signs webhooks as Standard Webhooks. The secret is read from its API. */
export const replicateSignature = (
  { apiKey, baseUrl }: ProviderAccess,
  http: UpstreamHttp,
  clock: Clock,
): VerifySignature => {
  const source = { urls: [`${baseUrl}/webhooks/default/secret`], headers: { authorization: `Bearer ${apiKey}` } };
  const secrets = new PublishedKeys(http, clock, source, secretSchema);

  return async ({ body, headers }) => {
    const { "webhook-id": id, "webhook-timestamp": timestamp = "", "webhook-signature": signature = "" } = headers;
    if (id === undefined) return err(unverifiedWebhook("There is no webhook-id."));
    if (!isRecent(timestamp, clock.now())) return err(unverifiedWebhook("The webhook-timestamp is not recent."));
    const signatures = signature
      .split(" ")
      .filter((one) => one.startsWith("v1,"))
      .map((one) => Buffer.from(one.slice("v1,".length), "base64"));
    const matched = await secrets.verifyWithAny((secret) => {
      const expected = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest();
      return signatures.some((one) => equalBytes(one, expected));
    });
    return matched.andThen((matches) =>
      matches ? ok(undefined) : err(unverifiedWebhook("No webhook-signature matches.")),
    );
  };
};
