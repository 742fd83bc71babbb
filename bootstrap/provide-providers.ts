import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Container } from "inversify";
import { LocalProvider } from "../adapters/provider/local/local-provider.js";
import { PaintPool } from "../adapters/provider/local/paint-pool.js";
import { ReferenceImages } from "../adapters/provider/local/reference-images.js";
import { ProviderChain } from "../adapters/provider/provider-chain.js";
import { PublicFetch } from "../adapters/provider/public-fetch.js";
import { UpstreamHttp } from "../adapters/provider/remote/calls/upstream-http.js";
import { RemoteProvider } from "../adapters/provider/remote/remote-provider.js";
import type { GenerationProvider } from "../application/ports/generation-provider.js";
import type { RemoteProviderConfig } from "./config.js";
import { dialectOf } from "./dialect-of.js";
import { provide } from "./provide.js";
import { webhooksOf, webhookUrlsOf } from "./provider-webhooks.js";
import { tokens } from "./tokens.js";

export const provideProviders = (container: Container): void => {
  provide(
    container,
    tokens.publicFetch,
    [tokens.config],
    // The embedded provider fetches URLs that customers send, so it has no exempt origins.
    ({ provider }) => new PublicFetch(provider.kind === "local" ? [] : provider.inOrder.map(({ baseUrl }) => baseUrl)),
    (publicFetch) => publicFetch.close(),
  );
  provide(
    container,
    tokens.upstreamHttp,
    [],
    () => new UpstreamHttp(),
    (http) => http.close(),
  );
  provide(
    container,
    tokens.paintPool,
    [],
    () => new PaintPool(availableParallelism()),
    (pool) => pool.close(),
  );
  provide(
    container,
    tokens.provider,
    [
      tokens.config,
      tokens.clock,
      tokens.storage,
      tokens.publicFetch,
      tokens.paintPool,
      tokens.upstreamHttp,
      tokens.logger,
      tokens.providerCircuits,
    ],
    async (config, clock, storage, publicFetch, pool, http, logger, circuits) => {
      const { provider } = config;
      if (provider.kind === "local") {
        const references = new ReferenceImages(storage, publicFetch);
        const folder = join(config.dataDir, "local-provider");
        return new LocalProvider(clock, references, pool, folder, config.publicUrl, provider.delayMilliseconds);
      }
      const open = async (remote: RemoteProviderConfig): Promise<GenerationProvider> => {
        const warn = (message: string) => logger.warn({ event: "provider_surprise", provider: remote.kind }, message);
        const { submitTimeoutMilliseconds, generationDeadlineMilliseconds } = config;
        const webhookUrls = webhookUrlsOf(remote, config.publicUrl);
        const opened = new RemoteProvider({
          dialect: dialectOf(remote),
          settings: { ...remote, submitTimeoutMilliseconds, generationDeadlineMilliseconds, webhookUrls },
          http,
          publicFetch,
          storage,
          clock,
          warn,
          onCircuitChange: circuits.watch(remote.kind),
        });
        await check(opened, warn);
        return opened;
      };
      const [first, ...others] = provider.inOrder;
      const opened = await Promise.all([open(first), ...others.map(open)]);
      return new ProviderChain(opened, (message) => logger.warn({ event: "provider_fallback" }, message));
    },
  );
  provide(container, tokens.providerWebhooks, [tokens.config, tokens.upstreamHttp, tokens.clock], webhooksOf);
};

/** Throws if a setting is wrong, so that the service does not start with it. An outage does not prevent startup. */
const check = async (provider: RemoteProvider, warn: (message: string) => void): Promise<void> => {
  const checked = await provider.check();
  if (checked.isOk()) return;
  const { kind, reason } = checked.error;
  if (kind === "misconfigured") throw new Error(`Bad configuration: ${reason}.`);
  warn(`The API key and the model or style could not be checked: ${reason}.`);
};
