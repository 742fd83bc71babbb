import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ContainerModule } from "inversify";
import { LocalProvider } from "../../adapters/provider/local/local-provider.js";
import { PaintPool } from "../../adapters/provider/local/paint-pool.js";
import { ReferenceImages } from "../../adapters/provider/local/reference-images.js";
import { PublicFetch } from "../../adapters/provider/public-fetch.js";
import type { LocalProviderConfig } from "../config.js";
import { provide, token } from "../provide.js";
import { tokens } from "../tokens.js";

const publicFetch = token<PublicFetch>("publicFetch");
const paintPool = token<PaintPool>("paintPool");

/** The embedded provider, which paints panoramas on this machine and sends no webhooks. */
export const localProvider = ({ delayMilliseconds }: LocalProviderConfig): ContainerModule =>
  new ContainerModule(({ bind }) => {
    const { config, clock, storage } = tokens;

    provide(
      bind,
      publicFetch,
      {},
      () => new PublicFetch(), // it fetches URLs that customers send, so it has no exempt origins
      (publicFetch) => publicFetch.close(),
    );
    provide(
      bind,
      paintPool,
      {},
      () => new PaintPool(availableParallelism()),
      (pool) => pool.close(),
    );
    provide(
      bind,
      tokens.provider,
      { config, clock, storage, publicFetch, paintPool },
      ({ config, clock, storage, publicFetch, paintPool }) => {
        const { dataDir, publicUrl } = config;
        const references = new ReferenceImages(storage, publicFetch);
        const folder = join(dataDir, "local-provider");
        return new LocalProvider(clock, references, paintPool, folder, publicUrl, delayMilliseconds);
      },
    );
    provide(bind, tokens.providerWebhooks, {}, () => new Map());
  });
