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
   * Prices, limits and credit packs. Pass the same policy to the ports `rateLimits` and `apiRequests`. Default: the
   * specification's.
   */
  readonly policy?: PanoramaPolicy | undefined;
  /** Sign-up mode. The operator can always open accounts. Default: `open`, everybody. */
  readonly signUp?: SignUpMode | undefined;
  /** Gallery mode (domain/tasks/visibility.ts). Default: `open`, all public panoramas. */
  readonly gallery?: GalleryMode | undefined;
  /** Welcome credits of an account that was opened by sign-up. Default: none. */
  readonly welcomeCredits?: Credits | undefined;
  /**
   * Time after which the recovery resolves a submission without a recorded answer. Must exceed the duration of
   * `provider.submit`. Default: 35 seconds.
   */
  readonly submissionDeadlineMilliseconds?: number | undefined;
  /** Maximum time of a generation, and of a wait in the queue, before the task is refunded. Default: 10 minutes. */
  readonly generationDeadlineMilliseconds?: number | undefined;
  /** Maximum number of tasks that wait in the queue in front of the provider. Default: 10 000. */
  readonly queueMax?: number | undefined;
  /** Duration of the exclusive lease on a task for one poll of the provider. Default: one minute. */
  readonly leaseMilliseconds?: number | undefined;
  /** The longest delay that `provider.nextPollMilliseconds` returns. Default: not longer than a lease. */
  readonly pollMillisecondsMax?: number | undefined;
  /** Maximum figures of a usable picture (domain/images/picture.ts). Default: no maximum. */
  readonly resultBounds?: ResultBounds | undefined;
  /** Hours until an unused uploaded reference image is deleted. Default: one day. */
  readonly referenceRetentionHours?: number | undefined;
  /** Days until an action that has ended leaves the operator log. Default: 730. */
  readonly operatorLogDays?: number | undefined;
  /** Origins that may receive webhooks over http or at a private address. Default: none. */
  readonly webhookPrivateOrigins?: readonly string[] | undefined;
  /** `one`: this is the only process, so it does not look for changes by others. Default: `several`. */
  readonly processes?: "one" | "several" | undefined;
  /** URLs of the viewer, for `viewer_url`. Default: tasks have no `viewer_url`. */
  readonly viewerUrl?: ViewerUrl | undefined;
};

/** Settings of accounts that customers open. */
export type SignUpSettings = Pick<ApplicationSettings, "signUp" | "welcomeCredits">;

/** Adds the defaults of omitted settings. */
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
  operatorLogDays = 730,
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
  /** The maximum wait in the queue equals the maximum time of a generation. */
  queueDeadlineMilliseconds: generationDeadlineMilliseconds,
  queueMax,
  leaseMilliseconds,
  pollMillisecondsMax,
  resultBounds,
  referenceRetentionHours,
  operatorLogDays,
  webhookPrivateOrigins,
  processes,
  viewerUrl,
});

export type CompleteSettings = ReturnType<typeof completeSettings>;
