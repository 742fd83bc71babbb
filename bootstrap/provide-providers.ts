import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Container } from "inversify";
import { FalProvider } from "../adapters/provider/fal/fal-provider.js";
import { LocalProvider } from "../adapters/provider/local/local-provider.js";
import { PaintPool } from "../adapters/provider/local/paint-pool.js";
import { ReferenceImages } from "../adapters/provider/local/reference-images.js";
import { ProviderChain } from "../adapters/provider/provider-chain.js";
import { PublicFetch } from "../adapters/provider/public-fetch.js";
import { ReplicateProvider } from "../adapters/provider/replicate/replicate-provider.js";
import { SkyboxProvider } from "../adapters/provider/skybox/skybox-provider.js";
import { UpstreamHttp } from "../adapters/provider/upstream-http.js";
import type { GenerationProvider } from "../application/ports/generation-provider.js";
import type { RemoteProviderConfig } from "./config.js";
import { provide } from "./provide.js";
import { T } from "./tokens.js";

export const provideProviders = (container: Container): void => {
  provide(
    container,
    T.publicFetch,
    [T.config],
    // The embedded provider fetches what customers name, so nothing is exempt there.
    ({ provider }) => new PublicFetch(provider.kind === "local" ? [] : provider.inOrder.map(({ baseUrl }) => baseUrl)),
    (publicFetch) => publicFetch.close(),
  );
  provide(
    container,
    T.upstreamHttp,
    [],
    () => new UpstreamHttp(),
    (http) => http.close(),
  );
  provide(
    container,
    T.paintPool,
    [],
    () => new PaintPool(availableParallelism()),
    (pool) => pool.close(),
  );
  provide(
    container,
    T.provider,
    [T.config, T.clock, T.storage, T.publicFetch, T.paintPool, T.upstreamHttp, T.logger],
    (config, clock, storage, publicFetch, pool, http, logger) => {
      const { provider } = config;
      if (provider.kind === "local") {
        const references = new ReferenceImages(storage, publicFetch);
        const folder = join(config.dataDir, "local-provider");
        return new LocalProvider(clock, references, pool, folder, config.publicUrl, provider.delayMilliseconds);
      }
      const adapterOf = (remote: RemoteProviderConfig): GenerationProvider => {
        const warn = (message: string) => logger.warn({ event: "provider_surprise", provider: remote.kind }, message);
        const outside = [http, publicFetch, storage, clock, warn] as const;
        const { submitTimeoutMilliseconds, generationDeadlineMilliseconds } = config;
        const times = { submitTimeoutMilliseconds, generationDeadlineMilliseconds };
        switch (remote.kind) {
          case "skybox":
            return new SkyboxProvider({ ...remote, ...times }, ...outside);
          case "replicate":
            return new ReplicateProvider({ ...remote, ...times }, ...outside);
          case "fal":
            return new FalProvider({ ...remote, ...times }, ...outside);
        }
      };
      const [first, ...others] = provider.inOrder;
      return new ProviderChain([adapterOf(first), ...others.map(adapterOf)], (message) =>
        logger.warn({ event: "provider_fallback" }, message),
      );
    },
  );
};
