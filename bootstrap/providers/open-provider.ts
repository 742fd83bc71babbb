import { comfyProvider } from "../../adapters/provider/remote/comfy/comfy-provider.js";
import { comfyuiProvider } from "../../adapters/provider/remote/comfyui/comfyui-provider.js";
import { falProvider } from "../../adapters/provider/remote/fal/fal-provider.js";
import { httpProvider } from "../../adapters/provider/remote/http/http-provider.js";
import type { OpenProvider, RemoteOptions } from "../../adapters/provider/remote/remote-options.js";
import { replicateProvider } from "../../adapters/provider/remote/replicate/replicate-provider.js";
import { skyboxProvider } from "../../adapters/provider/remote/skybox/skybox-provider.js";
import { worldlabsProvider } from "../../adapters/provider/remote/worldlabs/worldlabs-provider.js";
import type { ProviderWebhooks } from "../../application/ports/generation-provider.js";
import type { RemoteProviderConfig } from "./provider-config.js";

/** Opens a configured remote provider. `workflow` is for ComfyUI and Comfy; absent for the default. */
export const openProvider = (config: RemoteProviderConfig, shared: RemoteOptions, workflow?: unknown): OpenProvider => {
  const options = { ...shared, ...config };
  switch (options.kind) {
    case "skybox":
      return skyboxProvider(options);
    case "replicate":
      return replicateProvider(options);
    case "fal":
      return falProvider(options);
    case "worldlabs":
      return worldlabsProvider(options);
    case "http":
      return httpProvider(options);
    case "comfy":
      return comfyProvider({ ...options, workflow });
    case "comfyui":
      return comfyuiProvider({ ...options, workflow });
  }
};

/** The providers that send webhooks to this service, by account: its models share their webhooks. */
export const webhooksOf = (
  providers: readonly Pick<OpenProvider, "name" | "account" | "webhooks">[],
): ReadonlyMap<string, ProviderWebhooks> =>
  new Map(
    providers.flatMap(({ name, account = name, webhooks }): [string, ProviderWebhooks][] =>
      webhooks === undefined ? [] : [[account, webhooks]],
    ),
  );
