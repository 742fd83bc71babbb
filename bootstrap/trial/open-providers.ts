import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localProvider } from "../../adapters/provider/local/open-local-provider.js";
import type { OpenProvider, ProviderEvent } from "../../adapters/provider/remote/remote-options.js";
import type { GenerationProvider } from "../../application/ports/generation-provider.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { Config } from "../config.js";
import { workflowOf } from "../providers/comfyui-workflow.js";
import { openProvider } from "../providers/open-provider.js";
import { checkSettings } from "../providers/provider-check.js";
import type { LocalProviderConfig, RemoteProviderConfig } from "../providers/provider-config.js";
import type { TriedProvider } from "./try-providers.js";

type Options = {
  readonly config: Config;
  /** With the reference images. */
  readonly storage: ObjectStorage;
  /** Receives what the operator should know, in one sentence. */
  readonly warn: (message: string) => void;
};

/** The providers as `serve` opens them, without webhooks. Their order is that of the list. */
export type OpenProviders = { readonly providers: readonly TriedProvider[]; close(): Promise<void> };

/** Throws `ConfigurationError` if a provider does not accept its settings, before anything is generated. */
export const openProviders = async (options: Options): Promise<OpenProviders> => {
  const { provider } = options.config;
  const opened =
    provider.kind === "local" ? [await openLocal(options, provider)] : await openRemotes(options, provider.inOrder);
  return {
    providers: opened.map(({ provider }, index) => ({ name: nameOf(opened, index), provider })),
    close: async () => {
      await Promise.all(opened.map(({ close }) => close()));
    },
  };
};

type Opened = { readonly provider: GenerationProvider; close(): Promise<void> };

/** Several workflows of ComfyUI have one name: that of their servers. */
const nameOf = (all: readonly Opened[], index: number): string => {
  const names = all.map(({ provider }) => provider.name);
  const earlier = names.slice(0, index).filter((name) => name === names[index]).length;
  return `${names[index]}${earlier === 0 ? "" : ` (${earlier + 1})`}`;
};

/** Its jobs are in a folder of their own, which is deleted at the end. */
const openLocal = async ({ storage }: Options, { delayMilliseconds }: LocalProviderConfig): Promise<Opened> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-try-"));
  const provider = localProvider({ folder, publicUrl: "http://localhost", storage, delayMilliseconds });
  return {
    provider,
    close: async () => {
      await provider.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const openRemotes = async (options: Options, inOrder: readonly RemoteProviderConfig[]): Promise<readonly Opened[]> => {
  const opened: Opened[] = [];
  try {
    for (const remote of inOrder) {
      const provider = await openRemote(options, remote);
      opened.push({ provider, close: () => provider.close() });
      await checkSettings(provider, options.warn);
    }
    return opened;
  } catch (error) {
    await Promise.all(opened.map(({ close }) => close()));
    throw error;
  }
};

const openRemote = async ({ config, storage, warn }: Options, remote: RemoteProviderConfig): Promise<OpenProvider> => {
  const { submitTimeoutMilliseconds, generationDeadlineMilliseconds, providerPrompt: promptTemplate } = config;
  const times = { submitTimeoutMilliseconds, generationDeadlineMilliseconds };
  const onEvent = (event: ProviderEvent) => event.kind !== "circuit" && warn(event.message);
  return openProvider(remote, { storage, promptTemplate, onEvent, ...times }, await workflowOf(remote));
};
