import type { Cancelable, QueuedTask, SubmittedTask, SubmittingTask, Task } from "./task.js";

/** True if a cancel may still avoid the charge. A `generated` task already has a result. */
export const isCancelable = (task: Task): task is QueuedTask | SubmittingTask | SubmittedTask =>
  task.state === "queued" || task.state === "submitting" || task.state === "submitted";

/** Pause before the provider is asked again to stop a generation. */
const CANCEL_RETRY_MILLISECONDS = 60_000;

/** True if the owner has requested a cancel and the provider has not declined it since. */
export const isCancelRequested = ({ cancelRequest }: Cancelable): boolean =>
  cancelRequest !== undefined && cancelRequest.refusedAt === undefined;

/**
 * True for a minute after the provider declined to stop the generation. A later time was written before the clock was
 * set back.
 */
export const wasCancelDeclined = ({ cancelRequest }: Cancelable, now: Date): boolean =>
  cancelRequest?.refusedAt !== undefined &&
  Math.abs(now.getTime() - cancelRequest.refusedAt.getTime()) < CANCEL_RETRY_MILLISECONDS;

/** Records the owner's request to cancel. */
export const requestCancel = <T extends SubmittingTask | SubmittedTask>(task: T, now: Date): T => ({
  ...task,
  cancelRequest: { wantedAt: now },
});

/** Records that the provider declined to stop the generation. */
export const declineCancel = (task: SubmittedTask, now: Date): SubmittedTask => ({
  ...task,
  cancelRequest: { wantedAt: task.cancelRequest?.wantedAt ?? now, refusedAt: now },
});
