import type { Result } from "neverthrow";
import type { TaskId } from "../../../../domain/ids.js";
import type {
  GeneratedTask,
  QueuedTask,
  SubmittedTask,
  SubmittingTask,
  SucceededTask,
  Task,
} from "../../../../domain/tasks/task.js";
import type { Lease, StaleTask } from "./task-store.js";

/** A leased task that did not change, and when its work is due again. */
export type Postponement = { readonly lease: Lease<Task>; readonly dueAt: Date };

/** The tasks that each kind of background work handles. */
export type DueWork = {
  /** Queued tasks whose maximum waiting time has passed. */
  readonly giveUp: QueuedTask;
  /** `submitting` tasks whose submission deadline has passed. */
  readonly sweep: SubmittingTask;
  /** Submitted tasks whose next poll is due. */
  readonly settle: SubmittedTask;
  /** Tasks whose result is to be downloaded and checked. */
  readonly check: GeneratedTask;
  /** Succeeded tasks whose image or thumbnail is not stored yet, or is to have another name. */
  readonly keep: SucceededTask;
  /** Deleted tasks, whose objects or copy at the provider may still exist. */
  readonly erase: SucceededTask;
};

/** At `now`, no task can be due or leased after `latest`. One that is due later becomes due at `dueAt`. */
export type DueBounds = { readonly now: Date; readonly latest: Date; readonly dueAt: Date };

/** The background work on tasks: each one is leased to one worker at a time. Throws if the store is unreachable. */
export interface TaskWork {
  /**
   * Leases up to `limit` tasks whose work is due and that nobody has leased, longest overdue first. Each task goes to
   * exactly one caller. Unless the lease is given back before `until`, it expires and the task is due again.
   */
  claim<Work extends keyof DueWork>(work: Work, now: Date, until: Date, limit: number): Promise<Lease<DueWork[Work]>[]>;

  /**
   * Leases a submitted task whether it is due or not, if nobody has leased it. `undefined` if somebody has, or if the
   * task has left the state. Unless the lease is given back before `until`, it expires and the task is due.
   */
  lease(task: SubmittedTask, now: Date, until: Date): Promise<Lease<SubmittedTask> | undefined>;

  /** Like `TaskStore.move`, but the lease goes on until `until`; then the task is due. */
  moveWithinLease(lease: Lease<Task>, next: Task, until: Date): Promise<Result<void, StaleTask>>;

  /**
   * Gives several leases back at once. A task for which somebody else has wanted it earlier meanwhile is due at that
   * time. A lease is ignored if another worker has leased its task since.
   */
  postpone(postponements: readonly Postponement[]): Promise<void>;

  /**
   * Makes the next poll of a submitted task due `now` if it is due later; while it is leased, as soon as its holder
   * gives it back. Does nothing for a task in another state or an unknown id.
   */
  makeDueNow(id: TaskId, now: Date): Promise<void>;

  /**
   * Makes every task of this kind of work that is due after `latest` due at `dueAt`, and ends a lease that is longer at
   * `latest`: after a clock was set back, tasks are due and leased implausibly late. `bounds` reads the clock. It is
   * asked again after the times were read, and only these are replaced: so nothing that others write while this process
   * is paused looks late.
   */
  bringForward(work: keyof DueWork, bounds: () => DueBounds): Promise<void>;

  /**
   * Erases the texts (`withoutTexts`) of up to `limit` tasks that failed, or were deleted, before `before` and still
   * have them, longest ago first, and their pairs of metadata from the lists that they filter. Returns their number. Of
   * deleted ones it deletes the events that are not to be sent any more, and then, if none is left, erases the
   * `webhookUrl`.
   */
  eraseTexts(before: Date, limit: number, now: Date): Promise<number>;

  /** Deletes idempotency keys first used before `before`: the oldest ones, if there are too many for one statement. */
  forgetIdempotencyKeys(before: Date): Promise<void>;
}
