import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Container } from "inversify";
import type { Result } from "neverthrow";
import { LocalProvider } from "../adapters/provider/local/local-provider.js";
import { PaintPool } from "../adapters/provider/local/paint-pool.js";
import { ReferenceImages } from "../adapters/provider/local/reference-images.js";
import { ProviderChain } from "../adapters/provider/provider-chain.js";
import { PublicFetch } from "../adapters/provider/public-fetch.js";
import { UpstreamHttp } from "../adapters/provider/remote/calls/upstream-http.js";
import { FalProvider } from "../adapters/provider/remote/fal/fal-provider.js";
import { ReplicateProvider } from "../adapters/provider/remote/replicate/replicate-provider.js";
import { SkyboxProvider } from "../adapters/provider/remote/skybox/skybox-provider.js";
import type { CheckFailure } from "../adapters/provider/remote/start-check.js";
import type { GenerationProvider } from "../application/ports/generation-provider.js";
import type { RemoteProviderConfig } from "./config.js";
import { provide } from "./provide.js";
import { webhooksOf, webhookUrlsOf } from "./provider-webhooks.js";
import { tokens } from "./tokens.js";

export const provideProviders = (container: Container): void => {
  provide(
    container,
    tokens.publicFetch,
    [tokens.config],
    // The embedded provider fetches what customers name, so nothing is exempt there.
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
        const outside = [http, publicFetch, storage, clock, warn, circuits.watch(remote.kind)] as const;
        const { submitTimeoutMilliseconds, generationDeadlineMilliseconds } = config;
        const webhookUrls = webhookUrlsOf(remote, config.publicUrl);
        const common = { submitTimeoutMilliseconds, generationDeadlineMilliseconds, webhookUrls };
        switch (remote.kind) {
          case "skybox":
            return checked(new SkyboxProvider({ ...remote, ...common }, ...outside), warn);
          case "replicate":
            return checked(new ReplicateProvider({ ...remote, ...common }, ...outside), warn);
          case "fal":
            // It has no call that would show whether its settings are right.
            return new FalProvider({ ...remote, ...common }, ...outside);
        }
      };
      const [first, ...others] = provider.inOrder;
      const opened = await Promise.all([open(first), ...others.map(open)]);
      return new ProviderChain(opened, (message) => logger.warn({ event: "provider_fallback" }, message));
    },
  );
  provide(container, tokens.providerWebhooks, [tokens.config, tokens.upstreamHttp, tokens.clock], webhooksOf);
};

/** Throws if settings are wrong: better at the start than with the first creation. An outage keeps nothing from starting. */
const checked = async <Adapter extends { check(): Promise<Result<void, CheckFailure>> }>(
  adapter: Adapter,
  warn: (message: string) => void,
): Promise<Adapter> => {
  const answer = await adapter.check();
  if (answer.isErr()) {
    const { kind, reason } = answer.error;
    if (kind === "misconfigured") throw new Error(`Bad configuration: ${reason}.`);
    warn(`Whether key and model or style are right could not be checked: ${reason}.`);
  }
  return adapter;
};
