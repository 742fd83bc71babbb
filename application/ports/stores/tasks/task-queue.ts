import type { Result } from "neverthrow";
import type { ProviderPlace } from "../../../../domain/tasks/queue.js";
import type { QueuedTask, SubmittingTask } from "../../../../domain/tasks/task.js";
import type { Lease, StaleTask } from "./task-store.js";

/**
 * The queue in front of a provider that cannot run all tasks at once (domain/tasks/queue.ts). `TaskStore.open` puts
 * tasks into it. Throws if the store is unreachable.
 */
export interface TaskQueue {
  /**
   * Starts the next queued tasks, at most `limit`, and returns them. domain/tasks/queue.ts decides which
   * ones start, and where. They are `submitting` and due at `dueAt`. Each task is returned to exactly one caller, which
   * must submit it to the provider. `places` are those that take tasks now. A task whose time to wait is over at `now`,
   * or that is leased because it was over, is not started; nor is one before its `startAt` (see `requeue`), unless that
   * is later than any pause that a provider can ask for, because the clock was set back.
   */
  startQueued(places: readonly ProviderPlace[], limit: number, now: Date, dueAt: Date): Promise<SubmittingTask[]>;

  /**
   * The number of queued tasks that are before this one in the queue as it is now, at most `max`. Others may still get
   * a turn before it, and one that no free slot can make may be passed (domain/tasks/queue.ts).
   */
  countAhead(task: QueuedTask, max: number): Promise<number>;

  /**
   * Moves the slot of a task to another place. Returns `false` and writes nothing if that place has no free slot, or if
   * the stored task is no longer in this submission.
   */
  changePlace(task: SubmittingTask, place: ProviderPlace): Promise<boolean>;

  /**
   * Returns a task to the queue: certainly nothing was started for it. A task that was queued before keeps its turn;
   * another one gets a turn before the newer waiting tasks of its account (domain/tasks/queue.ts). `dueAt` is when it
   * is given up; before `startAt` it is not started again. Nothing is written if the stored task is no longer in this
   * submission (and, with a lease, if another worker has claimed it since).
   */
  requeue(
    current: SubmittingTask | Lease<SubmittingTask>,
    dueAt: Date,
    startAt?: Date,
  ): Promise<Result<QueuedTask, StaleTask>>;
}
