import type { UpstreamHttp } from "../adapters/provider/remote/calls/upstream-http.js";
import { FalWebhooks } from "../adapters/provider/remote/fal/fal-webhooks.js";
import { ReplicateWebhooks } from "../adapters/provider/remote/replicate/replicate-webhooks.js";
import { SkyboxWebhooks } from "../adapters/provider/remote/skybox/skybox-webhooks.js";
import { WebhookUrls } from "../adapters/provider/remote/webhooks/webhook-urls.js";
import type { Clock } from "../application/ports/clock.js";
import type { ProviderWebhooks } from "../application/ports/provider-webhooks.js";
import type { Config, RemoteProviderConfig } from "./config.js";

/** Where this provider is asked to send its notices; nowhere without https. */
export const webhookUrlsOf = ({ kind, apiKey }: RemoteProviderConfig, publicUrl: string): WebhookUrls | undefined =>
  publicUrl.startsWith("https://") ? new WebhookUrls(publicUrl, kind, apiKey) : undefined;

/** By the provider's name: those that send notices to this service. */
export const webhooksOf = (
  { provider, publicUrl }: Pick<Config, "provider" | "publicUrl">,
  http: UpstreamHttp,
  clock: Clock,
): ReadonlyMap<string, ProviderWebhooks> =>
  new Map(
    (provider.kind === "local" ? [] : provider.inOrder).flatMap((remote): [string, ProviderWebhooks][] => {
      const address = webhookUrlsOf(remote, publicUrl);
      return address === undefined ? [] : [[remote.kind, webhooksAt(address, remote, http, clock)]];
    }),
  );

const webhooksAt = (
  address: WebhookUrls,
  provider: RemoteProviderConfig,
  http: UpstreamHttp,
  clock: Clock,
): ProviderWebhooks => {
  switch (provider.kind) {
    case "skybox":
      return new SkyboxWebhooks(address);
    case "replicate":
      return new ReplicateWebhooks(provider, address, http, clock);
    case "fal":
      return new FalWebhooks(provider.jwksUrl, address, http, clock);
  }
};
