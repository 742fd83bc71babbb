import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { REMOTE_DEFAULTS } from "../remote-defaults.js";
import type { OpenProvider, RemoteOptions } from "../remote-options.js";
import { replicate } from "./replicate.js";

/** Options of Replicate. Only `apiKey` is required. */
export type ReplicateOptions = RemoteOptions & {
  readonly apiKey: string;
  /**
   * `owner/name`, or `owner/name:version`. By default `bytedance/seedream-4`. The model's schema must have a prompt,
   * and a width and height of its own; a list of image URLs keeps up to three reference images.
   */
  readonly model?: string | undefined;
  /** By default `https://api.replicate.com/v1`. */
  readonly baseUrl?: string | undefined;
};

/**
 * Opens Replicate, with one model: the reference images that it keeps and its sizes are found in its schema. Calls
 * nothing yet: see `check`. Throws if an option cannot be right.
 */
export const replicateProvider = (options: ReplicateOptions): OpenProvider => {
  const { replicate: defaults } = REMOTE_DEFAULTS;
  const { model = defaults.model, baseUrl = defaults.baseUrl } = options;
  const apiKey = headerSecret("apiKey", options.apiKey);
  return openRemote(
    replicate({ apiKey, baseUrl: baseUrlOf(baseUrl), model, promptTemplate: options.promptTemplate }),
    options,
    apiKey,
  );
};
