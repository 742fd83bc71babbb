import type { WebhookUrls } from "./webhooks/webhook-urls.js";

/** What the operator may set for every provider; `undefined` selects the dialect's default. */
export type ProviderLimits = {
  /** Shortest time between two polls of one generation. */
  readonly pollMilliseconds: number | undefined;
  /** Of this process. */
  readonly callsPerSecond: number | undefined;
  /** Generations that the provider runs at the same time. */
  readonly concurrencyMax: number | undefined;
};

export type ProviderSettings = ProviderLimits & {
  /** For a whole creation, including the wait for the rate limiter and reading the reference image. */
  readonly submitTimeoutMilliseconds: number;
  readonly generationDeadlineMilliseconds: number;
  /** Replaces `PROMPT_TEMPLATE` (leading-prompt.ts). */
  readonly promptTemplate?: string | undefined;
  /** Where the provider sends its webhooks; absent if it cannot reach this service. */
  readonly webhookUrls?: WebhookUrls | undefined;
};
