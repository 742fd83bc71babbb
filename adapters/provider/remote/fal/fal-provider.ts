import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { REMOTE_DEFAULTS } from "../remote-defaults.js";
import type { OpenProvider, RemoteOptions } from "../remote-options.js";
import { fal } from "./fal.js";

/** Options of fal. `apiKey` and `model` are required. */
export type FalOptions = RemoteOptions & {
  readonly apiKey: string;
  /**
   * `fal-ai/hunyuan_world` makes panoramas from a reference image. `fal-ai/flux-lora` makes them from text, with the weights
   * of a LoRA at `loraUrl` (https) that is trained on panoramas.
   */
  readonly model:
    | { readonly id: "fal-ai/hunyuan_world" }
    | { readonly id: "fal-ai/flux-lora"; readonly loraUrl: string };
  /** The queue. By default `https://queue.fal.run`. */
  readonly baseUrl?: string | undefined;
  /** The interface that lists requests. By default `https://api.fal.ai/v1`. */
  readonly platformUrl?: string | undefined;
  /** The public keys that verify webhooks; the first URL that answers is used. By default those of fal. */
  readonly jwksUrls?: readonly string[] | undefined;
};

/** Opens fal. Calls nothing yet: see `check`. Throws if an option cannot be right. */
export const falProvider = (options: FalOptions): OpenProvider => {
  const { fal: defaults } = REMOTE_DEFAULTS;
  const { model, jwksUrls = defaults.jwksUrls } = options;
  const { baseUrl = defaults.baseUrl, platformUrl = defaults.platformUrl } = options;
  const apiKey = headerSecret("apiKey", options.apiKey);
  const urls = { baseUrl: baseUrlOf(baseUrl), platformUrl: baseUrlOf(platformUrl), jwksUrls };
  return openRemote(fal({ apiKey, model, ...urls }), options, apiKey);
};
