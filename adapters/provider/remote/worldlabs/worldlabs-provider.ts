import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { REMOTE_DEFAULTS } from "../remote-defaults.js";
import type { OpenProvider, RemoteOptions } from "../remote-options.js";
import { worldlabs } from "./worldlabs.js";

/** Options of World Labs Marble. Only `apiKey` is required. */
export type WorldlabsOptions = RemoteOptions & {
  readonly apiKey: string;
  /** By default `marble-1.0-draft`, the cheapest and quickest one. */
  readonly model?: "marble-1.0-draft" | "marble-1.0" | "marble-1.1" | "marble-1.1-plus" | undefined;
  /** By default `https://api.worldlabs.ai`. */
  readonly baseUrl?: string | undefined;
};

/**
 * Opens World Labs Marble, which makes worlds and a panorama of each, from a prompt and up to three reference images.
 * Calls nothing yet: `check` verifies the key. It sends no webhooks. Throws if an option cannot be right.
 */
export const worldlabsProvider = (options: WorldlabsOptions): OpenProvider => {
  const { worldlabs: defaults } = REMOTE_DEFAULTS;
  const { model = defaults.model, baseUrl = defaults.baseUrl } = options;
  const apiKey = headerSecret("apiKey", options.apiKey);
  return openRemote(worldlabs({ apiKey, baseUrl: baseUrlOf(baseUrl), model }), options, undefined);
};
