import type { Result } from "neverthrow";
import type { ProviderPlace } from "../../../../domain/tasks/queue.js";
import type { QueuedTask, SubmittingTask } from "../../../../domain/tasks/task.js";
import type { Lease, StaleTask } from "./task-store.js";

/** The places of tasks that are being submitted. Throws if the store is unreachable. */
export interface SubmissionPlaces {
  /**
   * Moves the slot of a task to another place. Returns `false` and writes nothing if that place has no free slot, or if
   * the stored task is no longer in this submission.
   */
  changePlace(task: SubmittingTask, place: ProviderPlace): Promise<boolean>;

  /**
   * Returns a task, whose submission certainly started nothing, to the queue. A task that was queued before keeps its
   * turn; another one joins the current round (domain/tasks/queue.ts). `dueAt`: queue deadline.
   * `startAt`: earliest restart. `stale_task` if the submission, or the lease, is no longer current.
   */
  requeue(
    current: SubmittingTask | Lease<SubmittingTask>,
    dueAt: Date,
    startAt?: Date,
  ): Promise<Result<QueuedTask, StaleTask>>;
}

/**
 * The queue in front of a provider that cannot run all tasks at once (domain/tasks/queue.ts). `TaskStore.open` puts
 * tasks into it. Throws if the store is unreachable.
 */
export interface TaskQueue extends SubmissionPlaces {
  /**
   * Starts the next queued tasks, at most `limit`, and returns them as `submitting`, due at `dueAt`.
   * domain/tasks/queue.ts decides which tasks start, and where. `places`: the places that accept tasks now. Each task
   * is returned to exactly one caller, which must submit it.
   * Skips tasks past their queue deadline at `now`, tasks leased because of it, and tasks before their `startAt` (see
   * `requeue`). Ignores an impossibly late `startAt`: the clock was set back.
   */
  startQueued(places: readonly ProviderPlace[], limit: number, now: Date, dueAt: Date): Promise<SubmittingTask[]>;

  /**
   * The number of tasks ahead in the queue now, at most `max`. An estimate: later tasks may still pass, and a task for
   * which no slot is free may be passed (domain/tasks/queue.ts).
   */
  countAhead(task: QueuedTask, max: number): Promise<number>;
}
