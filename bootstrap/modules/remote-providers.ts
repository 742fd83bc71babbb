import { ContainerModule } from "inversify";
import { ProviderChain } from "../../adapters/provider/provider-chain.js";
import { PublicFetch } from "../../adapters/provider/public-fetch.js";
import { UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import { RemoteProvider } from "../../adapters/provider/remote/remote-provider.js";
import type { RemoteProviderConfig, RemoteProvidersConfig } from "../config.js";
import { dialectOf } from "../dialect-of.js";
import { provide, token } from "../provide.js";
import { webhooksOf, webhookUrlsOf } from "../provider-webhooks.js";
import { tokens } from "../tokens.js";

const publicFetch = token<PublicFetch>("publicFetch");
const upstreamHttp = token<UpstreamHttp>("upstreamHttp");

/** The configured remote providers, their outgoing connections and their webhooks. */
export const remoteProviders = ({ inOrder }: RemoteProvidersConfig): ContainerModule =>
  new ContainerModule(({ bind }) => {
    const { config, clock, storage, logger, providerCircuits } = tokens;

    provide(
      bind,
      publicFetch,
      {},
      () => new PublicFetch(inOrder.map(({ baseUrl }) => baseUrl)),
      (publicFetch) => publicFetch.close(),
    );
    provide(
      bind,
      upstreamHttp,
      {},
      () => new UpstreamHttp(),
      (http) => http.close(),
    );
    provide(
      bind,
      tokens.provider,
      { config, clock, storage, publicFetch, upstreamHttp, logger, providerCircuits },
      async ({ config, clock, storage, publicFetch, upstreamHttp, logger, providerCircuits }) => {
        const open = async (remote: RemoteProviderConfig): Promise<RemoteProvider> => {
          const warn = (message: string) => logger.warn({ event: "provider_surprise", provider: remote.kind }, message);
          const { submitTimeoutMilliseconds, generationDeadlineMilliseconds } = config;
          const webhookUrls = webhookUrlsOf(remote, config.publicUrl);
          const opened = new RemoteProvider({
            dialect: dialectOf(remote),
            settings: { ...remote, submitTimeoutMilliseconds, generationDeadlineMilliseconds, webhookUrls },
            http: upstreamHttp,
            publicFetch,
            storage,
            clock,
            warn,
            onCircuitChange: providerCircuits.watch(remote.kind),
          });
          await check(opened, warn);
          return opened;
        };
        const [first, ...fallbacks] = inOrder;
        const opened = await Promise.all([open(first), ...fallbacks.map(open)]);
        return new ProviderChain(opened, (message) => logger.warn({ event: "provider_fallback" }, message));
      },
    );
    provide(bind, tokens.providerWebhooks, { config, upstreamHttp, clock }, ({ config, upstreamHttp, clock }) =>
      webhooksOf(config, upstreamHttp, clock),
    );
  });

/** Throws if a setting is wrong, so that the service does not start with it. An outage does not prevent startup. */
const check = async (provider: RemoteProvider, warn: (message: string) => void): Promise<void> => {
  const checked = await provider.check();
  if (checked.isOk()) return;
  const { kind, reason } = checked.error;
  if (kind === "misconfigured") throw new Error(`Bad configuration: ${reason}.`);
  warn(`The API key and the model or style could not be checked: ${reason}.`);
};
