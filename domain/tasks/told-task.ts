import { type ObjectName, panoramaName } from "../images/object-name.js";
import type { FailedTask, FailureReason, SucceededTask, statusOf } from "./task.js";

/** The status of a task, as clients are told. */
export const TASK_STATUSES = ["processing", "succeeded", "failed"] as const satisfies ReturnType<typeof statusOf>[];

/** Why a task has failed, as clients are told. */
export const TOLD_REASONS = [
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

/** One of `TOLD_REASONS`. */
export type ToldReason = (typeof TOLD_REASONS)[number];

/** Fewer than the reasons of tasks: a client does the same after an answer that was lost and one that never came. */
const TOLD: Readonly<Record<FailureReason, ToldReason>> = {
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

/** What clients are told of the reason of a failed task. */
export const toldReason = ({ reason }: Pick<FailedTask, "reason">): ToldReason => TOLD[reason];

/**
 * The name of a stored image, for the permanent URL that its owner is told. Of a panorama that an operator has hidden,
 * a name under which nothing is ever stored: a bucket would serve its files to everybody to whom the owner passes it.
 */
export const toldImageName = ({ slug, image, hiddenReason }: SucceededTask): ObjectName =>
  hiddenReason === undefined ? image.imageName : panoramaName(`hidden-${slug}`);
