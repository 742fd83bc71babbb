import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import type { OpenProvider, RemoteOptions } from "../remote-options.js";
import { http } from "./http.js";

/** Options of a worker of your own. Only `baseUrl` is required. */
export type HttpProviderOptions = RemoteOptions & {
  readonly baseUrl: string;
  /** The bearer token that the worker asks for, if it asks for one. */
  readonly token?: string | undefined;
};

/**
 * Opens a worker of your own, by the small HTTP contract that PROVIDERS.md describes. Calls nothing yet: `check` asks
 * it what it can make. It sends no webhooks. Throws if an option cannot be right.
 */
export const httpProvider = (options: HttpProviderOptions): OpenProvider =>
  openRemote(
    http({ baseUrl: baseUrlOf(options.baseUrl), token: headerSecret("token", options.token) }),
    options,
    undefined,
  );
