import type { UpstreamHttp } from "../adapters/provider/remote/calls/upstream-http.js";
import { RemoteWebhooks } from "../adapters/provider/remote/webhooks/remote-webhooks.js";
import { WebhookUrls } from "../adapters/provider/remote/webhooks/webhook-urls.js";
import type { Clock } from "../application/ports/clock.js";
import type { ProviderWebhooks } from "../application/ports/provider-webhooks.js";
import type { Config, DialectConfig } from "./config.js";
import { dialectOf } from "./dialect-of.js";

/** The URLs for the webhooks of this provider; `undefined` if it sends none, or if `publicUrl` is not https. */
export const webhookUrlsOf = (provider: DialectConfig, publicUrl: string): WebhookUrls | undefined =>
  provider.kind !== "http" && publicUrl.startsWith("https://")
    ? new WebhookUrls(publicUrl, provider.kind, provider.apiKey)
    : undefined;

/** The providers that send webhooks to this service, by name. */
export const webhooksOf = (
  { provider, publicUrl }: Pick<Config, "provider" | "publicUrl">,
  http: UpstreamHttp,
  clock: Clock,
): ReadonlyMap<string, ProviderWebhooks> =>
  new Map(
    (provider.kind === "local" ? [] : provider.inOrder).flatMap((remote): [string, ProviderWebhooks][] => {
      if (remote.kind === "comfyui") return [];
      const urls = webhookUrlsOf(remote, publicUrl);
      const verifySignature = dialectOf(remote).signatureOf?.(http, clock);
      return urls === undefined ? [] : [[remote.kind, new RemoteWebhooks(urls, verifySignature)]];
    }),
  );
