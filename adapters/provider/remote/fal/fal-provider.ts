import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { REMOTE_DEFAULTS } from "../remote-defaults.js";
import type { OpenProvider, RemoteOptions } from "../remote-options.js";
import { fal } from "./fal.js";
import { falChoice } from "./fal-choice.js";

/** Options of fal. `apiKey` is required. */
export type FalOptions = RemoteOptions & {
  readonly apiKey: string;
  /**
   * By default `seedream-4.5`. Others are `gpt-image-2`, `gpt-image-2.5`, `flux-2`, `flux-3`, `hunyuan-world` (from one
   * image only), `flux-lora` (from text only, with `loraUrl`), and the id of any endpoint whose schema has a 2:1 size.
   */
  readonly model?: string | undefined;
  /** The id of the endpoint for requests with reference images, if `model` is the id of the one for text. */
  readonly editModel?: string | undefined;
  /** https URL of the weights of a LoRA, for endpoints that take some. */
  readonly loraUrl?: string | undefined;
  /** For endpoints that have it. By default `medium`. */
  readonly quality?: "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  /**
   * `separate`, the default: the model gets every reference image as it is. `canvas`: they are projected into one
   * panorama, and a model with a mask paints the rest of it.
   */
  readonly references?: "separate" | "canvas" | undefined;
  /** The queue. By default `https://queue.fal.run`. */
  readonly baseUrl?: string | undefined;
  /** The interface that lists requests and models. By default `https://api.fal.ai/v1`. */
  readonly platformUrl?: string | undefined;
  /** The public keys that verify webhooks; the first URL that answers is used. By default those of fal. */
  readonly jwksUrls?: readonly string[] | undefined;
};

/** Opens fal. Calls nothing yet: see `check`. Throws if an option cannot be right. */
export const falProvider = (options: FalOptions): OpenProvider => {
  const { fal: defaults } = REMOTE_DEFAULTS;
  const { baseUrl = defaults.baseUrl, platformUrl = defaults.platformUrl, jwksUrls = defaults.jwksUrls } = options;
  const choice = falChoice(options);
  if (choice.isErr()) throw new TypeError(`${choice.error}.`);
  const apiKey = headerSecret("apiKey", options.apiKey);
  const urls = { baseUrl: baseUrlOf(baseUrl), platformUrl: baseUrlOf(platformUrl), jwksUrls };
  const { promptTemplate } = options;
  return openRemote(fal({ apiKey, choice: choice.value, promptTemplate, ...urls }), options, apiKey);
};
