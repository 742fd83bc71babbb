import { ContainerModule } from "inversify";
import { ProviderChain } from "../../adapters/provider/provider-chain.js";
import type { OpenProvider, ProviderCall, ProviderEvent } from "../../adapters/provider/remote/remote-options.js";
import type { CircuitState } from "../../application/ports/circuit-state.js";
import { workflowOf } from "../comfyui-workflow.js";
import type { RemoteProviderConfig, RemoteProvidersConfig } from "../config.js";
import { ConfigurationError } from "../configuration-error.js";
import { openProvider } from "../open-provider.js";
import { provide, token } from "../provide.js";
import { providerProblem } from "../provider-check.js";
import { webhooksOf } from "../provider-webhooks.js";
import { tokens } from "../tokens.js";

const openProviders = token<readonly [OpenProvider, ...OpenProvider[]]>("openProviders");

/** The configured remote providers, their outgoing connections and their webhooks. */
export const remoteProviders = ({ inOrder }: RemoteProvidersConfig): ContainerModule =>
  new ContainerModule(({ bind }) => {
    const { config, clock, storage, logger, providerCircuits, metrics } = tokens;

    provide(
      bind,
      openProviders,
      { config, clock, storage, logger, providerCircuits, metrics },
      async ({ config, clock, storage, logger, providerCircuits, metrics }) => {
        const circuits = new Map<string, (state: CircuitState) => void>();
        const onEvent = (event: ProviderEvent) => {
          const { kind, provider } = event;
          if (kind === "surprise") logger.warn({ event: "provider_surprise", provider }, event.message);
          else if (kind === "fallback") logger.warn({ event: "provider_fallback" }, event.message);
          else if (circuits.has(provider)) circuits.get(provider)?.(event.state);
          else circuits.set(provider, providerCircuits.watch(provider));
        };
        const onCall = ({ seconds, ...labels }: ProviderCall) => metrics.providerCallSeconds.observe(labels, seconds);
        const { submitTimeoutMilliseconds, generationDeadlineMilliseconds, publicUrl } = config;
        const times = { submitTimeoutMilliseconds, generationDeadlineMilliseconds };
        const open = async (remote: RemoteProviderConfig): Promise<OpenProvider> => {
          const shared = { storage, clock, onEvent, onCall, publicUrl, ...times };
          const opened = openProvider(remote, shared, await workflowOf(remote));
          await check(opened, onEvent);
          return opened;
        };
        const [first, ...fallbacks] = inOrder;
        return await Promise.all([open(first), ...fallbacks.map(open)]);
      },
      async (opened) => {
        await Promise.all(opened.map((provider) => provider.close()));
      },
    );
    provide(
      bind,
      tokens.provider,
      { openProviders, logger },
      ({ openProviders, logger }) =>
        new ProviderChain(openProviders, (message) => logger.warn({ event: "provider_fallback" }, message)),
    );
    provide(bind, tokens.providerWebhooks, { openProviders }, ({ openProviders }) => webhooksOf(openProviders));
  });

/** Throws if a setting is wrong, so that the service does not start with it. An outage does not prevent startup. */
const check = async (provider: OpenProvider, onEvent: (event: ProviderEvent) => void): Promise<void> => {
  const checked = await provider.check();
  if (checked.isOk()) return;
  const message = providerProblem(checked.error);
  if (checked.error.kind === "misconfigured") throw new ConfigurationError(message);
  onEvent({ kind: "surprise", provider: provider.name, message });
};
