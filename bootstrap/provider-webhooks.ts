import type { UpstreamHttp } from "../adapters/provider/remote/calls/upstream-http.js";
import { RemoteWebhooks } from "../adapters/provider/remote/webhooks/remote-webhooks.js";
import { WebhookUrls } from "../adapters/provider/remote/webhooks/webhook-urls.js";
import type { Clock } from "../application/ports/clock.js";
import type { ProviderWebhooks } from "../application/ports/provider-webhooks.js";
import type { Config, RemoteProviderConfig } from "./config.js";
import { dialectOf } from "./dialect-of.js";

/** Where this provider is asked to send its webhooks; `undefined` if `publicUrl` is not https. */
export const webhookUrlsOf = ({ kind, apiKey }: RemoteProviderConfig, publicUrl: string): WebhookUrls | undefined =>
  publicUrl.startsWith("https://") ? new WebhookUrls(publicUrl, kind, apiKey) : undefined;

/** The providers that send webhooks to this service, by name. */
export const webhooksOf = (
  { provider, publicUrl }: Pick<Config, "provider" | "publicUrl">,
  http: UpstreamHttp,
  clock: Clock,
): ReadonlyMap<string, ProviderWebhooks> =>
  new Map(
    (provider.kind === "local" ? [] : provider.inOrder).flatMap((remote): [string, ProviderWebhooks][] => {
      const urls = webhookUrlsOf(remote, publicUrl);
      const verifySignature = dialectOf(remote).signatureOf?.(http, clock);
      return urls === undefined ? [] : [[remote.kind, new RemoteWebhooks(urls, verifySignature)]];
    }),
  );
