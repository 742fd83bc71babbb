import type { AccountEvent } from "../domain/account-event.js";
import type { Credits } from "../domain/credits.js";
import type { PanoramaPolicy } from "../domain/panorama-policy.js";
import type { SignUpMode } from "../domain/sign-up.js";
import type { Task } from "../domain/task.js";

/** Settings of the application. What is not given has the default of the service. */
export type ApplicationSettings = {
  /**
   * Prices, limits and credit packs. The ports `rateLimits` and `apiRequests` count by its rates: give them the same.
   * Default: those of the specification.
   */
  readonly policy?: PanoramaPolicy | undefined;
  /** Who may open an account. The operator may always. Default: `open`, everybody. */
  readonly signUp?: SignUpMode | undefined;
  /** The credits with which an account begins that somebody has opened by signing up. Default: none. */
  readonly welcomeCredits?: Credits | undefined;
  /**
   * When a task whose submission has no recorded answer is resolved; longer than `provider.submit` can take. Default: 35
   * seconds.
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
  /** Generated pictures with a larger seam are refunded (domain/picture.ts). Default: any seam is allowed. */
  readonly seamMax?: number | undefined;
  /** How long an uploaded reference image is kept that no task uses. Default: one day. */
  readonly referenceRetentionHours?: number | undefined;
  /** How long finished images are kept, from the success of their task; `null` for ever. Default: `null`. */
  readonly finishedImageRetentionMilliseconds?: number | null | undefined;
  /** Origins to which webhooks are sent although they use http or have a private address. Default: none. */
  readonly webhookPrivateOrigins?: readonly string[] | undefined;
  /** `one`: no other process uses the same stores, so nobody has to look for changes of others. Default: `several`. */
  readonly processes?: "one" | "several" | undefined;
  /**
   * Writes the body of an event as JSON. The task is the event's, as it is now. Default: `type`, `timestamp`, and as `data`
   * the `id` and the `status` of the task, or the `remaining_credits`.
   */
  readonly eventBody?: ((event: AccountEvent, task: Task | undefined) => string) | undefined;
};
