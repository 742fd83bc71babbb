import { type ObjectName, panoramaName } from "../images/object-name.js";
import type { FailedTask, FailureReason, SucceededTask, statusOf } from "./task.js";

/** The public statuses of a task. */
export const TASK_STATUSES = ["processing", "succeeded", "failed"] as const satisfies ReturnType<typeof statusOf>[];

/** The public failure reasons. */
export const PUBLIC_REASONS = [
  "canceled",
  "queue_timeout",
  "reference_unreachable",
  "reference_unusable",
  "content_refused",
  "provider_refused",
  "provider_failed",
  "provider_unavailable",
  "provider_timeout",
  "unusable_result",
] as const;

/** One of `PUBLIC_REASONS`. */
export type PublicReason = (typeof PUBLIC_REASONS)[number];

/** Fewer than the internal reasons: clients react in the same way to a lost answer and to none. */
const PUBLIC: Readonly<Record<FailureReason, PublicReason>> = {
  never_started: "queue_timeout",
  refused: "provider_refused",
  submission_unknown: "provider_unavailable",
  never_submitted: "provider_unavailable",
  generation_failed: "provider_failed",
  unusable_result: "unusable_result",
  deadline_passed: "provider_timeout",
  content_refused: "content_refused",
  reference_unreachable: "reference_unreachable",
  reference_unusable: "reference_unusable",
  provider_unavailable: "provider_unavailable",
  canceled: "canceled",
};

export const publicReason = ({ reason }: Pick<FailedTask, "reason">): PublicReason => PUBLIC[reason];

/**
 * The public name of a stored image, for its permanent URL. A hidden panorama gets a name without an object: a bucket
 * would serve its files to everybody who gets the URL.
 */
export const publicImageName = ({ slug, image, hiddenReason }: SucceededTask): ObjectName =>
  hiddenReason === undefined ? image.imageName : panoramaName(`hidden-${slug}`);
