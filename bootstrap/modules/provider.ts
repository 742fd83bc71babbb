import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ContainerModule } from "inversify";
import type { Result } from "neverthrow";
import { LocalProvider } from "../../adapters/provider/local/local-provider.js";
import { PaintPool } from "../../adapters/provider/local/paint-pool.js";
import { ReferenceImages } from "../../adapters/provider/local/reference-images.js";
import { ProviderChain } from "../../adapters/provider/provider-chain.js";
import { PublicFetch } from "../../adapters/provider/public-fetch.js";
import { UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import { FalProvider } from "../../adapters/provider/remote/fal/fal-provider.js";
import { ReplicateProvider } from "../../adapters/provider/remote/replicate/replicate-provider.js";
import { SkyboxProvider } from "../../adapters/provider/remote/skybox/skybox-provider.js";
import type { CheckFailure } from "../../adapters/provider/remote/start-check.js";
import type { GenerationProvider } from "../../application/ports/generation-provider.js";
import type { RemoteProviderConfig } from "../config.js";
import { provide } from "../provide.js";
import { webhooksOf, webhookUrlsOf } from "../provider-webhooks.js";
import { tokens } from "../tokens.js";

/** The configured generation provider, and what its adapters share. */
export const provider = new ContainerModule(({ bind }) => {
  const { config, clock, storage, publicFetch, paintPool, upstreamHttp, logger, providerCircuits } = tokens;

  provide(
    bind,
    tokens.publicFetch,
    { config },
    // The embedded provider fetches what customers name, so nothing is exempt there.
    ({ config: { provider } }) =>
      new PublicFetch(provider.kind === "local" ? [] : provider.inOrder.map(({ baseUrl }) => baseUrl)),
    (publicFetch) => publicFetch.close(),
  );
  provide(
    bind,
    tokens.upstreamHttp,
    {},
    () => new UpstreamHttp(),
    (http) => http.close(),
  );
  provide(
    bind,
    tokens.paintPool,
    {},
    () => new PaintPool(availableParallelism()),
    (pool) => pool.close(),
  );
  provide(
    bind,
    tokens.provider,
    { config, clock, storage, publicFetch, paintPool, upstreamHttp, logger, providerCircuits },
    async ({ config, clock, storage, publicFetch, paintPool, upstreamHttp, logger, providerCircuits }) => {
      const { provider } = config;
      if (provider.kind === "local") {
        const references = new ReferenceImages(storage, publicFetch);
        const folder = join(config.dataDir, "local-provider");
        return new LocalProvider(clock, references, paintPool, folder, config.publicUrl, provider.delayMilliseconds);
      }
      const open = async (remote: RemoteProviderConfig): Promise<GenerationProvider> => {
        const warn = (message: string) => logger.warn({ event: "provider_surprise", provider: remote.kind }, message);
        const outside = [upstreamHttp, publicFetch, storage, clock, warn, providerCircuits.watch(remote.kind)] as const;
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
  provide(bind, tokens.providerWebhooks, { config, upstreamHttp, clock }, ({ config, upstreamHttp, clock }) =>
    webhooksOf(config, upstreamHttp, clock),
  );
});

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
