import type { ProviderLimits } from "./provider-limits.js";
import type { WebhookUrls } from "./webhooks/webhook-urls.js";

/** What every adapter of a provider on the network is told; each adds what only it needs. */
export type ProviderSettings = ProviderLimits & {
  readonly apiKey: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** For one creation as a whole, waiting for its turn and reading what is to be sent included. */
  readonly submitTimeoutMilliseconds: number;
  /** Where the provider sends its notices; absent where it cannot reach this service. */
  readonly webhookUrls?: WebhookUrls | undefined;
};
