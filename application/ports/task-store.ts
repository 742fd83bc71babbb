import type { Result } from "neverthrow";
import type { AccountId, Standing } from "../../domain/account.js";
import type { ApiKeyId } from "../../domain/api-key.js";
import type { Spending } from "../../domain/budget.js";
import type { IdempotentRequest } from "../../domain/idempotency.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { ObjectName } from "../../domain/object-name.js";
import type { ProviderPlace, QueuePlace } from "../../domain/queue.js";
import type { Slug } from "../../domain/slug.js";
import type {
  GeneratedTask,
  OpenedTask,
  QueuedTask,
  ReservedTask,
  SubmittedTask,
  SucceededTask,
  Task,
} from "../../domain/task.js";
import type { TaskFilter } from "../../domain/task-filter.js";
import type { TaskId } from "../../domain/task-id.js";
import type { Visibility } from "../../domain/visibility.js";
import type { NotFound } from "../errors.js";

/** Another caller changed the task first; nothing was written. */
export type StaleTask = { readonly kind: "stale_task"; readonly id: TaskId };

/**
 * The right to work on a task until the lease expires. Until then nobody else gets it: what others want of the task is
 * remembered, and makes it due when the holder gives it back. Each lease increments `fence`: after another worker has
 * leased the task, writes with an expired lease are stale.
 */
export type Lease<T extends Task> = { readonly task: T; readonly fence: number };

/** A leased task that did not change, and when its work is due again. */
export type Postponement = { readonly lease: Lease<Task>; readonly dueAt: Date };

/** The tasks that each kind of background work handles. */
export type DueWork = {
  /** Queued tasks whose maximum waiting time has passed. */
  readonly giveUp: QueuedTask;
  /** Reserved tasks whose submission deadline has passed. */
  readonly sweep: ReservedTask;
  /** Submitted tasks whose next poll is due. */
  readonly settle: SubmittedTask;
  /** Tasks whose result is to be downloaded and checked. */
  readonly check: GeneratedTask;
  /** Succeeded tasks whose image or thumbnail is not stored yet. */
  readonly keep: SucceededTask;
  /** Hidden tasks, and those whose image has expired, whose objects or copy at the provider may still exist. */
  readonly erase: SucceededTask;
};

/** At `now`, no task can be due or leased after `latest`. One that is due later becomes due at `dueAt`. */
export type DueBounds = { readonly now: Date; readonly latest: Date; readonly dueAt: Date };

/** What decides whether a new task must wait in the queue (domain/queue.ts). */
export type QueueLimits = {
  /** The places that can make the task and take it now. If there are none, it must wait. */
  readonly places: readonly ProviderPlace[];
  /** When a queued task is given up. */
  readonly dueAt: Date;
};

/** The key whose budget limits a creation, and the time that selects the day and the month. */
export type Spender = { readonly apiKeyId: ApiKeyId; readonly now: Date };

/**
 * An account as it was read with the API key of a request. `version` is the store's own; it changes whenever anything
 * is written that decides about a creation.
 */
export type AccountSnapshot = { readonly standing: Standing; readonly version: string };

/** A task to open, and what the store reads for the decision about it (`TaskStore.open`). */
export type TaskOpening<Refusal> = {
  readonly account: AccountId;
  /** When the background work is due of a task that is sent to the provider at once. */
  readonly dueAt: Date;
  readonly idempotent?: IdempotentRequest | undefined;
  /**
   * Must be pure: it runs again, with the new standing, if the account has changed. Receives a place in the queue if the
   * task must wait, and otherwise the name of the place of the provider.
   */
  readonly decide: (
    standing: Standing,
    queuePlace?: QueuePlace,
    spending?: Spending,
    place?: string,
  ) => Result<OpenedTask, Refusal>;
  /**
   * The queue of all instances is locked if the first place has a limit, or if there is none. Otherwise a task waits only
   * behind others that were waiting when the account was read. Without `queue` it never waits.
   */
  readonly queue?: QueueLimits | undefined;
  /**
   * The reference images of this service that the request refers to, by the index of their URL. The same transaction
   * records that the task uses them; the request is rejected if one of them is deleted (reference-store.ts).
   */
  readonly references?: ReadonlyMap<number, ObjectName> | undefined;
  /** `decide` receives what this key has spent (domain/budget.ts), and the task counts as spending of it. */
  readonly spender?: Spender | undefined;
  /** The store may let `decide` see this instead of reading the account, and writes only if it is current. */
  readonly snapshot?: AccountSnapshot | undefined;
};

/**
 * Stores tasks and their reservations. Throws if the store is unreachable. Methods with an `owner` treat tasks of other
 * accounts and hidden tasks like unknown ids.
 *
 * A stored task may be unreadable, for example because a newer version of the service has written it. A method that
 * finds one task throws then; lists skip it; claims leave it to an instance that can read it. It is reported.
 */
export interface TaskStore {
  /**
   * Opens a task atomically. The store locks the account while it decides, or writes only if the account has not changed
   * since, so that two concurrent creations cannot use the same credits, the same budget of a key or the same slot of the
   * account. Stores what `decide` returns: the task, its ledger entry, the account's new standing, what its key has spent
   * and the idempotency key; stores nothing if it refuses.
   *
   * If the idempotency key is already used, `decide` is not called: the same request returns its task as `replayed`,
   * another request is rejected, and the key of a hidden task is `not_found`.
   */
  open<Refusal>(
    opening: TaskOpening<Refusal>,
  ): Promise<Result<{ task: Task; replayed: boolean }, Refusal | InvalidRequest | NotFound>>;

  /**
   * Starts the next queued tasks, at most `limit`, and returns them. domain/start-next-tasks.ts decides which ones
   * start, and where. They are `reserved` and due at `dueAt`. Each task is returned to exactly one caller, which must
   * submit it to the provider. `places` are those that take tasks now. A task whose time to wait is over at `now`, or that
   * is leased because it was over, is not started.
   */
  startQueued(places: readonly ProviderPlace[], limit: number, now: Date, dueAt: Date): Promise<ReservedTask[]>;

  /**
   * The number of queued tasks that are before this one in the queue as it is now, at most `max`. Others may still get a
   * turn before it, and one that no free slot can make may be passed (domain/queue.ts).
   */
  countAhead(task: QueuedTask, max: number): Promise<number>;

  /**
   * Moves the slot of a task to another place. Returns `false` and writes nothing if that place has no free slot, or if
   * the stored task is no longer in this submission.
   */
  changePlace(task: ReservedTask, place: ProviderPlace): Promise<boolean>;

  /**
   * Returns a task to the queue: certainly nothing was started for it. A task that was queued before keeps its turn;
   * another one gets a turn before the newer waiting tasks of its account (domain/queue.ts). `dueAt` is when it is given
   * up. Nothing is written if the stored task is no longer in this submission (and, with a lease, if another worker has
   * claimed it since).
   */
  requeue(current: ReservedTask | Lease<ReservedTask>, dueAt: Date): Promise<Result<QueuedTask, StaleTask>>;

  find(id: TaskId, owner: AccountId): Promise<Task | undefined>;
  /** Finds the task of any account, unless it is hidden. */
  findBySlug(slug: Slug): Promise<Task | undefined>;

  /** Returns those of the tasks that are no longer active. */
  ended(ids: readonly TaskId[]): Promise<TaskId[]>;

  /**
   * Newest first, at most `limit`, older than the task `beyond`, which need not exist any more; or oldest first, and newer
   * than it. With a `filter`, only the tasks that match it (domain/task-filter.ts).
   */
  list(
    owner: AccountId,
    limit: number,
    beyond: TaskId | undefined,
    filter?: TaskFilter,
    first?: "newest" | "oldest",
  ): Promise<Task[]>;

  /** Public panoramas of all accounts whose image is stored permanently; otherwise like `list`. */
  listPublic(limit: number, beyond: TaskId | undefined, first?: "newest" | "oldest"): Promise<SucceededTask[]>;

  /**
   * Those tasks of `listPublic` whose prompt these words find (domain/prompt-search.ts; at least one word). An index does the
   * search: its time does not depend on what the prompts are. A task enters and leaves the index in the transaction that
   * puts it into the gallery or takes it out.
   */
  searchPublic(
    words: readonly string[],
    limit: number,
    beyond: TaskId | undefined,
    first?: "newest" | "oldest",
  ): Promise<SucceededTask[]>;

  /**
   * Puts panoramas into the index of `searchPublic`, and takes them out, whose place in the gallery an earlier version has
   * changed: at most `limit`, and returns how many. Absent if the index has always been complete.
   */
  completeSearch?(limit: number): Promise<number>;

  /** Finished tasks of all accounts whose image has the storage status `failed`; otherwise like `list`. */
  listFailedImages(limit: number, before: TaskId | undefined): Promise<SucceededTask[]>;

  /** Tasks of all accounts that succeeded before this time and whose image is kept, oldest first, at most `limit`. */
  listKeptImages(succeededBefore: Date, limit: number): Promise<SucceededTask[]>;

  setVisibility(id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound>>;

  /**
   * Hides the task permanently from everything except the ledger, the idempotency keys and, if it had succeeded, the
   * work `erase`. That is due now, or when the worker that has leased the task gives it back or its lease expires: until
   * then the worker may still store an object. All other background work on the task ends. It no longer uses its
   * reference images. Its events are deleted, unless a delivery of them is pending.
   */
  hide(id: TaskId, owner: AccountId, now: Date): Promise<Result<void, NotFound>>;

  /** Whether the owner has hidden this task. */
  isHidden(id: TaskId, owner: AccountId): Promise<boolean>;

  /**
   * Leases up to `limit` tasks whose work is due and that nobody has leased, longest overdue first. Each task goes to
   * exactly one caller. Unless the lease is given back before `until`, it expires and the task is due again.
   */
  claim<Work extends keyof DueWork>(work: Work, now: Date, until: Date, limit: number): Promise<Lease<DueWork[Work]>[]>;

  /**
   * Stores `next` if the stored task is still in the state and the submission of `current`, and its image in the same
   * storage status (and, with a lease, if no other worker has claimed it since). The same transaction applies all
   * consequences: a failed task's refund entry and credits, what its key has spent, the account's slot of a task that is
   * no longer active, the event of an end or of a saved image with its deliveries, the release of the idempotency key of a
   * refused creation, and of the reference images of a failed task, which are unused from then on, and the turn of a queued
   * task that ends, which its account's newer ones get. `dueAt` is when the next background work is due; `undefined` means
   * never. A move with a lease gives it back; if the owner has hidden the task meanwhile, `erase` is due now, and nobody is
   * told of the image.
   */
  move(current: Task | Lease<Task>, next: Task, dueAt: Date | undefined): Promise<Result<void, StaleTask>>;

  /** Like `move`, but the lease goes on until `until`; then the task is due. */
  moveWithinLease(lease: Lease<Task>, next: Task, until: Date): Promise<Result<void, StaleTask>>;

  /**
   * Leases a submitted task whether it is due or not, if nobody has leased it. `undefined` if somebody has, or if the task
   * has left the state. Unless the lease is given back before `until`, it expires and the task is due.
   */
  lease(task: SubmittedTask, now: Date, until: Date): Promise<Lease<SubmittedTask> | undefined>;

  /**
   * Records the owner's wish to cancel the task (`wantCancel` of domain/task.ts), and makes the next work on a submitted
   * task due like `makeDueNow`. Writes nothing if the task has left the state or the submission, or if its wish has changed
   * since it was read.
   */
  recordCancelWish(task: ReservedTask | SubmittedTask, now: Date): Promise<Result<void, StaleTask>>;

  /**
   * Makes the next poll of a submitted task due `now` if it is due later; while it is leased, as soon as its holder gives
   * it back. Does nothing for a task in another state or an unknown id.
   */
  makeDueNow(id: TaskId, now: Date): Promise<void>;

  /**
   * Makes every task of this kind of work that is due after `latest` due at `dueAt`, and ends a lease that is longer at
   * `latest`: after a clock was set back, tasks are due and leased implausibly late. `bounds` reads the clock. It is asked
   * again after the times were read, and only these are replaced: so nothing that others write while this process is
   * paused looks late.
   */
  bringForward(work: keyof DueWork, bounds: () => DueBounds): Promise<void>;

  /**
   * Gives several leases back at once. A task for which somebody else has wanted it earlier meanwhile is due at that time.
   * A lease is ignored if another worker has leased its task since.
   */
  postpone(postponements: readonly Postponement[]): Promise<void>;

  /**
   * Erases the texts (`withoutTexts`) of up to `limit` tasks that failed, or were hidden, before `before` and still have
   * them, longest ago first, and their pairs of metadata from the lists that they filter. Returns their number.
   */
  eraseTexts(before: Date, limit: number, now: Date): Promise<number>;

  /** Deletes idempotency keys first used before `before`: the oldest ones, if there are too many for one statement. */
  forgetIdempotencyKeys(before: Date): Promise<void>;
}
