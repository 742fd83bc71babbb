import { UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import type { Dialect } from "../../adapters/provider/remote/dialect.js";
import { RemoteWebhooks, WebhookUrls } from "../../adapters/provider/remote/webhooks/webhook-urls.js";
import type { Clock } from "../../application/ports/clock.js";
import type { IncomingWebhook, ProviderWebhooks } from "../../application/ports/generation-provider.js";
import type { RemoteUnderTest } from "./contracts/remote-setup.js";
import { FAL_KEY } from "./fake-fal.js";
import type { SignedWebhook } from "./fake-provider.js";
import { REPLICATE_KEY } from "./fake-replicate.js";
import { SKYBOX_KEY } from "./fake-skybox.js";
import type { Fault } from "./faulty-server.js";
import { startFal, startReplicate, startSkybox } from "./providers-under-test.js";

const PUBLIC_URL = "https://panoramas.example";

export type WebhooksUnderTest = RemoteUnderTest & { readonly webhooks: ProviderWebhooks };

/** `keyFaults`: faults of the next reads of the signing keys, one each. */
export type SignedWebhooksUnderTest = WebhooksUnderTest & { readonly keyFaults: Fault[] };

/** The real adapters of a provider and of its webhooks, over HTTP to its fake. */
export const startSkyboxWebhooks = async (clock: Clock) => {
  const webhookUrls = new WebhookUrls(PUBLIC_URL, "skybox", SKYBOX_KEY);
  return receiving(await startSkybox({ clock, webhookUrls, concurrencyMax: 2 }), webhookUrls, clock);
};

export const startReplicateWebhooks = async (clock: Clock) => {
  const webhookUrls = new WebhookUrls(PUBLIC_URL, "replicate", REPLICATE_KEY);
  const remote = await startReplicate({ clock, webhookUrls });
  return { ...receiving(remote, webhookUrls, clock), keyFaults: remote.fake.secretFaults };
};

export const startFalWebhooks = async (clock: Clock) => {
  const webhookUrls = new WebhookUrls(PUBLIC_URL, "fal", FAL_KEY);
  const remote = await startFal({ clock, webhookUrls });
  return { ...receiving(remote, webhookUrls, clock), keyFaults: remote.fake.jwksFaults };
};

const receiving = <R extends RemoteUnderTest & { readonly dialect: Dialect }>(
  remote: R,
  urls: WebhookUrls,
  clock: Clock,
) => {
  const http = new UpstreamHttp();
  return {
    ...remote,
    webhooks: new RemoteWebhooks(urls, remote.dialect.signatureOf?.(http, clock)),
    close: async () => {
      await http.close();
      await remote.close();
    },
  };
};

/** The webhook as the HTTP server passes it on. */
export const arrived = ({ url, headers, body }: SignedWebhook): IncomingWebhook => ({
  body: Buffer.from(body),
  headers,
  query: new URL(url).searchParams,
});
