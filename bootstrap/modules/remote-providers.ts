import { ContainerModule } from "inversify";
import { ProviderChain } from "../../adapters/provider/provider-chain.js";
import type { OpenProvider, ProviderCall, ProviderEvent } from "../../adapters/provider/remote/remote-options.js";
import type { CircuitState } from "../../application/ports/generation-provider.js";
import { provide, token } from "../provide.js";
import { workflowOf } from "../providers/comfyui-workflow.js";
import { openProvider, webhooksOf } from "../providers/open-provider.js";
import { checkSettings } from "../providers/provider-check.js";
import type { RemoteProviderConfig, RemoteProvidersConfig } from "../providers/provider-config.js";
import { tokens } from "../tokens.js";
import { installationUserAgent } from "../user-agent.js";

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
          if (kind === "surprise") {
            metrics.providerSurprises.inc({ provider });
            logger.warn({ event: "provider_surprise", provider }, event.message);
          } else if (kind === "fallback") logger.warn({ event: "provider_fallback" }, event.message);
          else if (circuits.has(provider)) circuits.get(provider)?.(event.state);
          else circuits.set(provider, providerCircuits.watch(provider));
        };
        const onCall = ({ seconds, ...labels }: ProviderCall) => metrics.providerCallSeconds.observe(labels, seconds);
        const { submitTimeoutMilliseconds, generationDeadlineMilliseconds, publicUrl } = config;
        const { providerPrompt: promptTemplate } = config;
        const times = { submitTimeoutMilliseconds, generationDeadlineMilliseconds };
        const userAgent = installationUserAgent(config);
        const open = async (remote: RemoteProviderConfig): Promise<OpenProvider> => {
          const shared = { storage, clock, onEvent, onCall, publicUrl, promptTemplate, userAgent, ...times };
          const opened = openProvider(remote, shared, await workflowOf(remote));
          await checkSettings(opened, (message) => onEvent({ kind: "surprise", provider: opened.name, message }));
          return opened;
        };
        const [first, ...fallbacks] = inOrder;
        return await Promise.all([open(first), ...fallbacks.map(open)]);
      },
    ).onDeactivation(async (opened) => {
      await Promise.all(opened.map((provider) => provider.close()));
    });
    provide(
      bind,
      tokens.provider,
      { openProviders, logger },
      ({ openProviders, logger }) =>
        new ProviderChain(openProviders, (message) => logger.warn({ event: "provider_fallback" }, message)),
    );
    provide(bind, tokens.providerWebhooks, { openProviders }, ({ openProviders }) => webhooksOf(openProviders));
  });
