import type { SignUpMode } from "../domain/accounts/account.js";
import { type Credits, credits } from "../domain/credits/credits.js";
import type { ResultBounds } from "../domain/images/picture.js";
import { PANORAMA_POLICY, type PanoramaPolicy } from "../domain/panorama-policy.js";
import type { Slug } from "../domain/tasks/slug.js";
import type { GalleryMode, Visibility } from "../domain/tasks/visibility.js";

/** The URL of the viewer of a panorama, such as `https://example.com/panoramas/{slug}`. */
export type ViewerUrl = (slug: Slug, visibility: Visibility) => string;

/** Settings of the application. Omitted ones have the defaults of the service. */
export type ApplicationSettings = {
  /**
   * Prices, limits and credit packs. The ports `rateLimits` and `apiRequests` count by its rates: give them the same.
   * Default: those of the specification.
   */
  readonly policy?: PanoramaPolicy | undefined;
  /** Who may open an account. The operator may always. Default: `open`, everybody. */
  readonly signUp?: SignUpMode | undefined;
  /** Which public panoramas the gallery shows (domain/tasks/visibility.ts). Default: `open`, all. */
  readonly gallery?: GalleryMode | undefined;
  /** The credits with which an account begins that was opened by sign-up. Default: none. */
  readonly welcomeCredits?: Credits | undefined;
  /**
   * When a task is resolved whose submission has no recorded answer. Longer than `provider.submit` can take. Default:
   * 35 seconds.
   */
  readonly submissionDeadlineMilliseconds?: number | undefined;
  /** When a generation, or a wait in the queue, is given up and refunded. Default: 10 minutes. */
  readonly generationDeadlineMilliseconds?: number | undefined;
  /** Maximum number of tasks that wait in the queue in front of the provider. Default: 10 000. */
  readonly queueMax?: number | undefined;
  /** How long one process holds a task exclusively for one poll of the provider. Default: one minute. */
  readonly leaseMilliseconds?: number | undefined;
  /** The longest delay that `provider.nextPollMilliseconds` returns. Default: not longer than a lease. */
  readonly pollMillisecondsMax?: number | undefined;
  /** Generated pictures with larger figures are refunded (domain/images/picture.ts). Default: any are allowed. */
  readonly resultBounds?: ResultBounds | undefined;
  /** How long an unused uploaded reference image is kept. Default: one day. */
  readonly referenceRetentionHours?: number | undefined;
  /** Origins to which webhooks are sent although they use http or have a private address. Default: none. */
  readonly webhookPrivateOrigins?: readonly string[] | undefined;
  /** `one`: no other process uses the same stores, so nobody has to look for changes of others. Default: `several`. */
  readonly processes?: "one" | "several" | undefined;
  /** Where people look at a panorama, for `viewer_url`. Default: tasks have no `viewer_url`. */
  readonly viewerUrl?: ViewerUrl | undefined;
};

/** The settings, with defaults in place of omitted ones. */
export const completeSettings = ({
  policy = PANORAMA_POLICY,
  signUp = "open",
  gallery = "open",
  welcomeCredits = credits(0),
  submissionDeadlineMilliseconds = 35_000,
  generationDeadlineMilliseconds = 600_000,
  queueMax = 10_000,
  leaseMilliseconds = 60_000,
  pollMillisecondsMax = leaseMilliseconds,
  resultBounds = {},
  referenceRetentionHours = 24,
  webhookPrivateOrigins = [],
  processes = "several",
  viewerUrl,
}: ApplicationSettings) => ({
  policy,
  signUp,
  gallery,
  welcomeCredits,
  submissionDeadlineMilliseconds,
  generationDeadlineMilliseconds,
  /** A task waits in the queue for as long as a generation may take. */
  queueDeadlineMilliseconds: generationDeadlineMilliseconds,
  queueMax,
  leaseMilliseconds,
  pollMillisecondsMax,
  resultBounds,
  referenceRetentionHours,
  webhookPrivateOrigins,
  processes,
  viewerUrl,
});

/** What `completeSettings` returns. */
export type CompleteSettings = ReturnType<typeof completeSettings>;
