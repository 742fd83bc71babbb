import { readFile } from "node:fs/promises";
import { ContainerModule } from "inversify";
import { ProviderChain } from "../../adapters/provider/provider-chain.js";
import { PublicFetch } from "../../adapters/provider/public-fetch.js";
import { UpstreamHttp } from "../../adapters/provider/remote/calls/upstream-http.js";
import { comfyui } from "../../adapters/provider/remote/comfyui/comfyui.js";
import { ComfyuiServers } from "../../adapters/provider/remote/comfyui/comfyui-servers.js";
import { QWEN_IMAGE_360 } from "../../adapters/provider/remote/comfyui/qwen-image-360.js";
import { parseWorkflow, type Workflow } from "../../adapters/provider/remote/comfyui/workflow.js";
import type { Dialect } from "../../adapters/provider/remote/dialect.js";
import { RemoteProvider } from "../../adapters/provider/remote/remote-provider.js";
import type { ProviderLimits } from "../../adapters/provider/remote/settings.js";
import type { WebhookUrls } from "../../adapters/provider/remote/webhooks/webhook-urls.js";
import type { GenerationProvider } from "../../application/ports/generation-provider.js";
import { type ComfyuiConfig, type RemoteProviderConfig, type RemoteProvidersConfig, serversOf } from "../config.js";
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
      () => new PublicFetch(inOrder.flatMap((provider) => serversOf(provider))),
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
        /** `name` is that of the provider, or of one of its servers, in `/readyz`, metrics and log. */
        const openOne = async (
          name: string,
          dialect: Dialect,
          limits: ProviderLimits,
          webhookUrls?: WebhookUrls,
        ): Promise<RemoteProvider> => {
          const warn = (message: string) => logger.warn({ event: "provider_surprise", provider: name }, message);
          const { submitTimeoutMilliseconds, generationDeadlineMilliseconds } = config;
          const opened = new RemoteProvider({
            dialect,
            settings: { ...limits, submitTimeoutMilliseconds, generationDeadlineMilliseconds, webhookUrls },
            http: upstreamHttp,
            publicFetch,
            storage,
            clock,
            warn,
            onCircuitChange: providerCircuits.watch(name),
          });
          await check(opened, warn);
          return opened;
        };
        const warnOfFallback = (message: string) => logger.warn({ event: "provider_fallback" }, message);
        const openComfyui = async (remote: ComfyuiConfig): Promise<GenerationProvider> => {
          const workflow = await workflowOf(remote.workflowFile);
          const openServer = (baseUrl: string) => {
            const dialect = comfyui({ baseUrl, apiKey: remote.apiKey, workflow });
            return openOne(`comfyui ${dialect.name}`, dialect, remote);
          };
          const [first, ...others] = remote.baseUrls;
          const servers = await Promise.all([openServer(first), ...others.map(openServer)]);
          return new ComfyuiServers({ servers, clock, warn: warnOfFallback });
        };
        const open = (remote: RemoteProviderConfig): Promise<GenerationProvider> =>
          remote.kind === "comfyui"
            ? openComfyui(remote)
            : openOne(remote.kind, dialectOf(remote), remote, webhookUrlsOf(remote, config.publicUrl));
        const [first, ...fallbacks] = inOrder;
        const opened = await Promise.all([open(first), ...fallbacks.map(open)]);
        return new ProviderChain(opened, warnOfFallback);
      },
    );
    provide(bind, tokens.providerWebhooks, { config, upstreamHttp, clock }, ({ config, upstreamHttp, clock }) =>
      webhooksOf(config, upstreamHttp, clock),
    );
  });

/** Throws if the file cannot be used, so that the service does not start with it. */
const workflowOf = async (file: string | undefined): Promise<Workflow> => {
  const parsed = parseWorkflow(file === undefined ? QWEN_IMAGE_360 : await jsonIn(file));
  if (parsed.isErr()) throw new Error(`Bad configuration: COMFYUI_WORKFLOW=${file}: ${parsed.error}.`);
  return parsed.value;
};

const jsonIn = async (file: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    const reason = error instanceof SyntaxError ? "the file is not JSON" : "the file cannot be read";
    throw new Error(`Bad configuration: COMFYUI_WORKFLOW=${file}: ${reason}.`, { cause: error });
  }
};

/** Throws if a setting is wrong, so that the service does not start with it. An outage does not prevent startup. */
const check = async (provider: RemoteProvider, warn: (message: string) => void): Promise<void> => {
  const checked = await provider.check();
  if (checked.isOk()) return;
  const { kind, reason } = checked.error;
  if (kind === "misconfigured") throw new Error(`Bad configuration: ${reason}.`);
  warn(`The API key and the model or style could not be checked: ${reason}.`);
};
