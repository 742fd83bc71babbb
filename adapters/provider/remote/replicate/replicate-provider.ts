import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { REMOTE_DEFAULTS } from "../remote-defaults.js";
import type { OpenProvider, RemoteOptions } from "../remote-options.js";
import { replicate } from "./replicate.js";

/** Options of Replicate. Only `apiKey` is required. */
export type ReplicateOptions = RemoteOptions & {
  readonly apiKey: string;
  /** `owner/name`, or `owner/name:version`: a FLUX.1 LoRA for panoramas. By default `igorriti/flux-360`. */
  readonly model?: string | undefined;
  /** By default `https://api.replicate.com/v1`. */
  readonly baseUrl?: string | undefined;
};

/**
 * Opens Replicate: panoramas of up to 1440 × 720 pixels, from a prompt and at most one reference image. Calls nothing yet:
 * see `check`. Throws if an option cannot be right.
 */
export const replicateProvider = (options: ReplicateOptions): OpenProvider => {
  const { replicate: defaults } = REMOTE_DEFAULTS;
  const { model = defaults.model, baseUrl = defaults.baseUrl } = options;
  const apiKey = headerSecret("apiKey", options.apiKey);
  return openRemote(replicate({ apiKey, baseUrl: baseUrlOf(baseUrl), model }), options, apiKey);
};
