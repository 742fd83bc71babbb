import type { Result } from "neverthrow";
import type { ApiKeyId } from "../../../../domain/accounts/api-key.js";
import type { Spending } from "../../../../domain/credits/budget.js";
import type { IdempotentRequest } from "../../../../domain/credits/idempotency.js";
import type { Standing } from "../../../../domain/credits/standing.js";
import type { AccountId, TaskId } from "../../../../domain/ids.js";
import type { ObjectName } from "../../../../domain/images/object-name.js";
import type { InvalidRequest } from "../../../../domain/invalid-request.js";
import type { OpenedTask } from "../../../../domain/tasks/open-task.js";
import type { ProviderPlace, QueuePosition } from "../../../../domain/tasks/queue.js";
import type { Slug } from "../../../../domain/tasks/slug.js";
import type { SubmittedTask, SubmittingTask, Task } from "../../../../domain/tasks/task.js";
import type { Access, AccessRefused } from "../access.js";

/** Another caller changed the task first; nothing was written. */
export type StaleTask = { readonly kind: "stale_task"; readonly id: TaskId };

/**
 * Exclusive right to work on a task until a time. Requests of others meanwhile are stored and make the task due when
 * the lease ends. `fence` grows with each lease: after another worker has leased the task, writes with an expired lease
 * are stale.
 */
export type Lease<T extends Task> = { readonly task: T; readonly fence: number };

/** Limits that decide whether a new task must wait in the queue (domain/tasks/queue.ts). */
export type QueueLimits = {
  /** Places that can make the task and accept it now. If there is none, the task waits. */
  readonly places: readonly ProviderPlace[];
  /** The queue deadline. */
  readonly dueAt: Date;
};

/** The key whose budget limits a creation, and the time that selects the day and the month. */
export type Spender = { readonly apiKeyId: ApiKeyId; readonly now: Date };

/**
 * An account as read with the API key of a request. `version` belongs to the store; it changes with every write that
 * matters for a creation.
 */
export type AccountSnapshot = { readonly standing: Standing; readonly version: string };

/** A task to open, and the data that the store reads for the decision (`TaskStore.open`). */
export type TaskOpening<Refusal> = {
  readonly account: AccountId;
  /** The key or the session of the request; absent: the account must only be open. */
  readonly access?: Access | undefined;
  /** Submission deadline of a task that does not wait in the queue. */
  readonly dueAt: Date;
  readonly idempotent?: IdempotentRequest | undefined;
  /**
   * Must be pure: it runs again, with the new standing, if the account has changed. Receives the queue position if the
   * task must wait, otherwise the name of the provider place.
   */
  readonly decide: (
    standing: Standing,
    queuePosition?: QueuePosition,
    spending?: Spending,
    place?: string,
  ) => Result<OpenedTask, Refusal>;
  /**
   * Limits of the queue; absent: the task never waits. Locks the shared queue if the first place has a concurrency
   * limit, or if there is no place. Otherwise the task waits only behind tasks that waited when the account was read.
   */
  readonly queue?: QueueLimits | undefined;
  /**
   * The uploaded images of the request, by the index of their URL. The same transaction records their use by the task;
   * the request is rejected if one of them is deleted (reference-store.ts).
   */
  readonly references?: ReadonlyMap<number, ObjectName> | undefined;
  /** The key whose spending `decide` receives (domain/credits/budget.ts). The task counts as its spending. */
  readonly spender?: Spender | undefined;
  /** An account that `decide` may get instead of a new read. The store writes only if it is current. */
  readonly snapshot?: AccountSnapshot | undefined;
};

/**
 * Stores tasks and their reservations. Throws if the store is unreachable. Methods with an `owner` treat tasks of other
 * accounts and deleted tasks like unknown ids.
 *
 * A stored task may be unreadable, for example because a newer version of the service has written it. It is reported. A
 * method that finds one task then throws; lists skip it; claims leave it to an instance that can read it.
 *
 * Access, the queue, the background work and the lists are separate ports: task-access.ts, task-queue.ts, task-work.ts,
 * task-lists.ts.
 */
export interface TaskTransitions {
  /**
   * Opens a task atomically: the store locks the account while it decides, or writes only if the account is unchanged.
   * So two concurrent creations cannot use the same credits, budget of a key or slot of the account. Stores the results
   * of `decide`: the task, its ledger entry, the account's new standing, the key's spending and the idempotency key.
   * Stores nothing if it refuses, or if `access` or the account has ended, not even for a used idempotency key.
   *
   * A used idempotency key does not call `decide`: the same request returns its task as `replayed`; another request,
   * and the key of a deleted task, are rejected (domain/credits/idempotency.ts).
   */
  open<Refusal>(
    opening: TaskOpening<Refusal>,
  ): Promise<Result<{ task: Task; replayed: boolean }, Refusal | InvalidRequest | AccessRefused>>;

  /**
   * Stores `next` if the stored task still has the state, submission and image status of `current`, and, with a lease,
   * no other worker has claimed it since. In the same transaction:
   * - a failed task: its refund entry, the account's credits, the key's spending; its reference images become unused
   * - a task that is no longer active: the account's slot; a queued one also its turn, if it is the account's last
   * - an end or a saved image: its event with deliveries
   * - a refused creation: its idempotency key is free again
   * `dueAt`: the next background work; `undefined`: none. A move with a lease gives it back; if the owner has deleted
   * the task meanwhile, `erase` is due now, and no event tells of the image. The next name of an image (`hide`) stays
   * until a move makes it the name.
   */
  move(current: Task | Lease<Task>, next: Task, dueAt: Date | undefined): Promise<Result<void, StaleTask>>;

  find(id: TaskId, owner: AccountId): Promise<Task | undefined>;
}

/** `TaskTransitions`, and other ways to find tasks and to request the end of one. */
export interface TaskStore extends TaskTransitions {
  /** Finds the task of any account, unless it is deleted. */
  findBySlug(slug: Slug): Promise<Task | undefined>;

  /** Returns the tasks that are no longer active. */
  ended(ids: readonly TaskId[]): Promise<TaskId[]>;

  /**
   * Records the owner's request to cancel (`requestCancel` of domain/tasks/cancel-request.ts), and makes the next work
   * on a submitted task due like `TaskWork.makeDueNow`. `stale_task` if the state, the submission or the request has
   * changed since the task was read.
   */
  recordCancelRequest(task: SubmittingTask | SubmittedTask, now: Date): Promise<Result<void, StaleTask>>;
}
