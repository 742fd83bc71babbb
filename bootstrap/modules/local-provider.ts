import { join } from "node:path";
import { ContainerModule } from "inversify";
import { type OpenLocalProvider, localProvider as open } from "../../adapters/provider/local/open-local-provider.js";
import { provide, token } from "../provide.js";
import type { LocalProviderConfig } from "../providers/provider-config.js";
import { tokens } from "../tokens.js";
import { installationUserAgent } from "../user-agent.js";

const openLocalProvider = token<OpenLocalProvider>("openLocalProvider");

/** The embedded provider, which paints panoramas on this machine and sends no webhooks. */
export const localProviderModule = ({ delayMilliseconds }: LocalProviderConfig): ContainerModule =>
  new ContainerModule(({ bind }) => {
    const { config, clock, storage, signPicture } = tokens;

    const parts = { config, clock, storage, signPicture };
    provide(bind, openLocalProvider, parts, ({ config, signPicture, ...parts }) =>
      open({
        ...parts,
        folder: join(config.dataDir, "local-provider"),
        publicUrl: config.publicUrl,
        userAgent: installationUserAgent(config),
        delayMilliseconds,
        sign: (jpeg, sourceType) => signPicture(jpeg, { sourceType }),
      }),
    ).onDeactivation((provider) => provider.close());
    provide(bind, tokens.provider, { openLocalProvider }, ({ openLocalProvider }) => openLocalProvider);
    provide(bind, tokens.providerWebhooks, {}, () => new Map());
  });
