import type { WebhookUrls } from "./webhooks/webhook-urls.js";

/** Operator settings of every provider. `undefined` selects the dialect's default. */
export type ProviderLimits = {
  /** Shortest time between two polls of one generation. */
  readonly pollMilliseconds: number | undefined;
  /** Limit of this process. */
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
  /** URL for the provider's webhooks. Absent if it cannot reach this service. */
  readonly webhookUrls?: WebhookUrls | undefined;
};
