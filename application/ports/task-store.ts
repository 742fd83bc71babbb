import type { Result } from "neverthrow";
import type { AccountId, Standing } from "../../domain/account.js";
import type { IdempotentRequest } from "../../domain/idempotency.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { Slug } from "../../domain/slug.js";
import type { OpenedTask, QueuedTask, ReservedTask, SubmittedTask, SucceededTask, Task } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import type { Visibility } from "../../domain/visibility.js";
import type { NotFound } from "../errors.js";

/** Somebody else moved the task first; nothing was written. */
export type StaleTask = { readonly kind: "stale_task"; readonly id: TaskId };

/**
 * The right to work on a due task until the lease runs out. `fence` grows with each claim: once somebody else has
 * claimed the task, whatever the earlier holder writes is stale.
 */
export type Lease<T extends Task> = { readonly task: T; readonly fence: number };

/** A leased task with which nothing has happened, and when its work is due again. */
export type Postponement = { readonly lease: Lease<Task>; readonly dueAt: Date };

/** The tasks that background work waits for: each kind of work has its own states. */
export type DueWork = {
  /** Queued tasks that have waited for as long as one may. */
  readonly giveUp: QueuedTask;
  /** Reserved tasks whose submission deadline has passed. */
  readonly sweep: ReservedTask;
  /** Submitted tasks whose next look is due. */
  readonly settle: SubmittedTask;
  /** Succeeded tasks whose image, or only whose thumbnail, is not stored yet. */
  readonly keep: SucceededTask;
};

/** In front of a provider that runs only so many generations at once (domain/queue.ts). */
export type QueueLimits = {
  readonly concurrencyMax: number;
  /** When a task that has to wait is given up. */
  readonly dueAt: Date;
};

/** Where tasks, and with them their reservations, live. An unreachable store or an unreadable row is thrown. */
export interface TaskStore {
  /**
   * Opens a task in one transaction, with the account locked so that two creations never count the same credits or
   * the same free slot. Stores what `decide` (pure, and called at most once per lock) returns: the task, its ledger
   * entry, the account's new standing, and the idempotency key; nothing if it refuses.
   *
   * With an idempotency key that names a task already, `decide` is not asked: a repeat of the same request gives that
   * task as `replayed`, another request is refused.
   *
   * `dueAt` is for a task that is sent to the provider at once. With `queue`, whether it can be is decided with the
   * queue locked, too, among all instances: if it has to wait, `decide` is given its turn.
   */
  open<Refusal>(
    account: AccountId,
    dueAt: Date,
    idempotent: IdempotentRequest | undefined,
    decide: (standing: Standing, turn?: number) => Result<OpenedTask, Refusal>,
    queue?: QueueLimits,
  ): Promise<Result<{ task: Task; replayed: boolean }, Refusal | InvalidRequest>>;

  /**
   * Takes up to `limit` tasks out of the queue, in the order of their turns, as far as there are free places of
   * `concurrencyMax` (`undefined`: any number), and makes
   * them `reserved` until `dueAt`: each goes to one caller, who is to send it to the provider.
   */
  startQueued(concurrencyMax: number | undefined, limit: number, dueAt: Date): Promise<ReservedTask[]>;

  /** Somebody else's task is `undefined`, as an unknown id is. */
  find(id: TaskId, owner: AccountId): Promise<Task | undefined>;
  /** Whoever it belongs to. */
  findBySlug(slug: Slug): Promise<Task | undefined>;

  /** Newest first, at most `limit`, older than the task `before` (any id: it need not exist any more). */
  list(owner: AccountId, limit: number, before: TaskId | undefined): Promise<Task[]>;

  /** Public panoramas whose image is kept, of all accounts; otherwise like `list`. */
  listPublic(limit: number, before: TaskId | undefined): Promise<SucceededTask[]>;

  /** Somebody else's task is `not_found`, as an unknown id is. */
  setVisibility(id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound>>;

  /**
   * Hides the task from everything but the ledger and the idempotency keys, for good, and takes it from background
   * work. Somebody else's task is `not_found`, as an unknown id is.
   */
  hide(id: TaskId, owner: AccountId, now: Date): Promise<Result<void, NotFound>>;

  /**
   * Leases up to `limit` tasks whose work is due, the longest due first; each goes to one caller only. A lease that is
   * not used up by `move` before `until` runs out: the task is due again.
   */
  claim<Work extends keyof DueWork>(work: Work, now: Date, until: Date, limit: number): Promise<Lease<DueWork[Work]>[]>;

  /**
   * Stores `next` if the stored task is still in the state of `current` and its image in the same storage status (and,
   * with a lease, nobody else has claimed it since), in one transaction with all that the move entails: a failed task's
   * refund entry and credits, the slot of a task that is not active any more, and the idempotency key of a creation that
   * was refused. `dueAt` is when the next background work is due, `undefined` when none is.
   */
  move(current: Task | Lease<Task>, next: Task, dueAt: Date | undefined): Promise<Result<void, StaleTask>>;

  /**
   * Makes a submitted task's next look due `now`, if it is later, also while somebody works on it; that one's lease
   * still counts for what they write. Any other task, and an unknown id, is left as it is.
   */
  makeDueNow(id: TaskId, now: Date): Promise<void>;

  /** Gives leases back, all at once; one that somebody else has claimed since is theirs. */
  postpone(postponements: readonly Postponement[]): Promise<void>;

  /** Forgets idempotency keys that were first used before `before`; if there are very many, the oldest of them. */
  forgetIdempotencyKeys(before: Date): Promise<void>;
}
