import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { REMOTE_DEFAULTS } from "../remote-defaults.js";
import type { OpenProvider, RemoteOptions } from "../remote-options.js";
import { skybox } from "./skybox.js";

/** Options of Skybox AI. Only `apiKey` is required. */
export type SkyboxOptions = RemoteOptions & {
  readonly apiKey: string;
  /** The number of a style of Skybox (`GET /skybox/styles`). By default 67. */
  readonly styleId?: number | undefined;
  /** By default `https://backend.blockadelabs.com/api/v1`. */
  readonly baseUrl?: string | undefined;
};

/**
 * Opens Skybox AI by Blockade Labs: panoramas of 4096 or 8192 pixels, from a prompt and at most one reference image.
 * Calls nothing yet: see `check`. Throws if an option cannot be right.
 */
export const skyboxProvider = (options: SkyboxOptions): OpenProvider => {
  const { skybox: defaults } = REMOTE_DEFAULTS;
  const { styleId = defaults.styleId, baseUrl = defaults.baseUrl } = options;
  const apiKey = headerSecret("apiKey", options.apiKey);
  return openRemote(skybox({ apiKey, baseUrl: baseUrlOf(baseUrl), styleId }), options, apiKey);
};
