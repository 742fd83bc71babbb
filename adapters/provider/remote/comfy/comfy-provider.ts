import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { REMOTE_DEFAULTS } from "../remote-defaults.js";
import type { OpenProvider, RemoteOptions } from "../remote-options.js";
import { namedWorkflow } from "../workflows/bundled-workflows.js";
import { comfy } from "./comfy.js";
import { needsComfyKey } from "./needs-comfy-key.js";

/** Options of Comfy API v2. `apiKey` is required for Comfy Cloud and for deployments at Comfy. */
export type ComfyOptions = RemoteOptions & {
  readonly apiKey?: string | undefined;
  /** Comfy Cloud, which is the default, a deployment, or a `comfy-api-proxy` of your own. */
  readonly baseUrl?: string | undefined;
  /**
   * `qwen-image-edit` (the default: from text and up to three images), `qwen-image-360` (from text), or the JSON of
   * another workflow in ComfyUI's API format, with placeholders such as `{prompt}` (PROVIDERS.md).
   */
  readonly workflow?: unknown;
};

/**
 * Opens Comfy API v2. Calls nothing yet: `check` verifies the key. It sends no webhooks. Throws if an option cannot be
 * right.
 */
export const comfyProvider = (options: ComfyOptions): OpenProvider => {
  const apiKey = headerSecret("apiKey", options.apiKey);
  const baseUrl = baseUrlOf(options.baseUrl ?? REMOTE_DEFAULTS.comfy.baseUrl);
  if (apiKey === undefined && needsComfyKey(baseUrl)) throw new TypeError(`apiKey is required for ${baseUrl}.`);
  const workflow = namedWorkflow(options.workflow ?? REMOTE_DEFAULTS.comfy.workflow);
  return openRemote(comfy({ apiKey, baseUrl, workflow }), options, undefined);
};
