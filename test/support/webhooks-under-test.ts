import { UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import { FalWebhooks } from "../../adapters/provider/remote/fal/fal-webhooks.js";
import { ReplicateWebhooks } from "../../adapters/provider/remote/replicate/replicate-webhooks.js";
import { SkyboxWebhooks } from "../../adapters/provider/remote/skybox/skybox-webhooks.js";
import { WebhookUrls } from "../../adapters/provider/remote/webhooks/webhook-urls.js";
import type { Clock } from "../../application/ports/clock.js";
import type { IncomingWebhook, ProviderWebhooks } from "../../application/ports/provider-webhooks.js";
import type { RemoteProvider } from "./contracts/remote-provider-contract.js";
import { FAL_KEY } from "./fake-fal.js";
import type { SignedWebhook } from "./fake-provider.js";
import { REPLICATE_KEY } from "./fake-replicate.js";
import { SKYBOX_KEY } from "./fake-skybox.js";
import type { Fault } from "./faulty-server.js";
import { startFal, startReplicate, startSkybox } from "./providers-under-test.js";

export const PUBLIC_URL = "https://panoramas.example";

export type RemoteWebhooks = RemoteProvider & { readonly notices: ProviderWebhooks };

/** `keyFaults`: what befalls the next readings of the keys that sign. */
export type SignedRemoteWebhooks = RemoteWebhooks & { readonly keyFaults: Fault[] };

/** The real adapters of a provider and of its notices, over HTTP to its fake. */
export const startSkyboxWebhooks = async (clock: Clock) => {
  const webhookUrls = new WebhookUrls(PUBLIC_URL, "skybox", SKYBOX_KEY);
  const remote = await startSkybox({ clock, webhookUrls, concurrencyMax: 2 });
  return { ...remote, notices: new SkyboxWebhooks(webhookUrls) };
};

export const startReplicateWebhooks = async (clock: Clock) => {
  const webhookUrls = new WebhookUrls(PUBLIC_URL, "replicate", REPLICATE_KEY);
  const remote = await startReplicate({ clock, webhookUrls });
  const http = new UpstreamHttp();
  const access = { apiKey: REPLICATE_KEY, baseUrl: remote.fake.baseUrl };
  const notices = new ReplicateWebhooks(access, webhookUrls, http, clock);
  return { ...remote, notices, keyFaults: remote.fake.secretFaults, close: () => ends(http, remote) };
};

export const startFalWebhooks = async (clock: Clock) => {
  const webhookUrls = new WebhookUrls(PUBLIC_URL, "fal", FAL_KEY);
  const remote = await startFal({ clock, webhookUrls });
  const http = new UpstreamHttp();
  const notices = new FalWebhooks(remote.fake.jwksUrl, webhookUrls, http, clock);
  return { ...remote, notices, keyFaults: remote.fake.jwksFaults, close: () => ends(http, remote) };
};

/** The notice as it arrives. */
export const arrived = ({ url, headers, body }: SignedWebhook): IncomingWebhook => ({
  body: Buffer.from(body),
  headers,
  query: new URL(url).searchParams,
});

const ends = async (http: UpstreamHttp, remote: { close(): Promise<void> }): Promise<void> => {
  await http.close();
  await remote.close();
};
