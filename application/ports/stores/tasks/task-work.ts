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

/** An unchanged leased task and its next due time. */
export type Postponement = { readonly lease: Lease<Task>; readonly dueAt: Date };

/** The tasks that each kind of background work handles. */
export type DueWork = {
  /** Queued tasks whose maximum waiting time has passed. */
  readonly giveUp: QueuedTask;
  /** `submitting` tasks whose submission deadline has passed. */
  readonly recover: SubmittingTask;
  /** Submitted tasks whose next poll is due. */
  readonly poll: SubmittedTask;
  /** Tasks whose result must be downloaded and checked. */
  readonly check: GeneratedTask;
  /** Succeeded tasks whose image or thumbnail must be stored or renamed. */
  readonly store: SucceededTask;
  /** Deleted tasks whose objects or copy at the provider may still exist. */
  readonly erase: SucceededTask;
};

/** `latest`: the latest possible due time or lease at `now`. Later due times are reset to `dueAt`. */
export type DueBounds = { readonly now: Date; readonly latest: Date; readonly dueAt: Date };

/** Background work on tasks. Each task is leased to one worker at a time. Throws if the store is unreachable. */
export interface TaskWork {
  /**
   * Leases up to `limit` due tasks without a lease, longest overdue first. Each task goes to exactly one caller. A
   * lease that is not given back expires at `until`, and the task is due again.
   */
  claim<Work extends keyof DueWork>(work: Work, now: Date, until: Date, limit: number): Promise<Lease<DueWork[Work]>[]>;

  /**
   * Leases a submitted task without a lease, even before it is due. `undefined` if it is leased or has left the state.
   * A lease that is not given back expires at `until`, and the task is due.
   */
  lease(task: SubmittedTask, now: Date, until: Date): Promise<Lease<SubmittedTask> | undefined>;

  /** Like `TaskStore.move`, but keeps the lease until `until`; then the task is due. */
  moveWithinLease(lease: Lease<Task>, next: Task, until: Date): Promise<Result<void, StaleTask>>;

  /**
   * Gives several leases back. If another caller asked for an earlier time meanwhile, that time counts. Ignores a lease
   * if another worker has leased its task since.
   */
  postpone(postponements: readonly Postponement[]): Promise<void>;

  /**
   * Makes the next poll of a submitted task due `now` if it is due later; after a running lease, when it ends. Does
   * nothing for a task in another state or an unknown id.
   */
  makeDueNow(id: TaskId, now: Date): Promise<void>;

  /**
   * After the clock was set back: resets impossible due times to `dueAt`, and shortens longer leases to `latest`.
   * `bounds` reads the clock. It is called again before the write, and only the times read before are replaced: so
   * times that others write while this process is paused stay.
   */
  bringForward(work: keyof DueWork, bounds: () => DueBounds): Promise<void>;

  /**
   * Erases the texts (`withoutTexts`) of up to `limit` tasks that failed or were deleted before `before`, oldest first,
   * and their searchable metadata. Of deleted tasks also the events without pending deliveries and, when none is left,
   * the `webhookUrl`. Returns the number of tasks.
   */
  eraseTexts(before: Date, limit: number, now: Date): Promise<number>;

  /** Deletes idempotency keys first used before `before`: the oldest ones, if there are too many for one statement. */
  forgetIdempotencyKeys(before: Date): Promise<void>;
}
