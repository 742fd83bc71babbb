import type { Result } from "neverthrow";
import type { ApiKeyId } from "../../../../domain/accounts/api-key.js";
import type { Spending } from "../../../../domain/credits/budget.js";
import type { IdempotentRequest } from "../../../../domain/credits/idempotency.js";
import type { Standing } from "../../../../domain/credits/standing.js";
import type { AccountId, TaskId } from "../../../../domain/ids.js";
import type { ObjectName } from "../../../../domain/images/object-name.js";
import type { InvalidRequest } from "../../../../domain/invalid-request.js";
import type { ProviderPlace, QueuePosition } from "../../../../domain/tasks/queue.js";
import type { Slug } from "../../../../domain/tasks/slug.js";
import type { OpenedTask, SubmittedTask, SubmittingTask, Task } from "../../../../domain/tasks/task.js";

/** Another caller changed the task first; nothing was written. */
export type StaleTask = { readonly kind: "stale_task"; readonly id: TaskId };

/**
 * The right to work on a task until the lease expires. Until then nobody else gets it: what others want of the task is
 * remembered, and makes it due when the holder gives it back. Each lease increments `fence`: after another worker has
 * leased the task, writes with an expired lease are stale.
 */
export type Lease<T extends Task> = { readonly task: T; readonly fence: number };

/** What decides whether a new task must wait in the queue (domain/tasks/queue.ts). */
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
   * Must be pure: it runs again, with the new standing, if the account has changed. Receives a place in the queue if
   * the task must wait, and otherwise the name of the place of the provider.
   */
  readonly decide: (
    standing: Standing,
    queuePosition?: QueuePosition,
    spending?: Spending,
    place?: string,
  ) => Result<OpenedTask, Refusal>;
  /**
   * The queue of all instances is locked if the first place has a limit, or if there is none. Otherwise a task waits
   * only behind others that were waiting when the account was read. Without `queue` it never waits.
   */
  readonly queue?: QueueLimits | undefined;
  /**
   * The reference images of this service that the request refers to, by the index of their URL. The same transaction
   * records that the task uses them; the request is rejected if one of them is deleted (reference-store.ts).
   */
  readonly references?: ReadonlyMap<number, ObjectName> | undefined;
  /** `decide` receives what this key has spent (domain/credits/budget.ts), and the task counts as spending of it. */
  readonly spender?: Spender | undefined;
  /** The store may let `decide` see this instead of reading the account, and writes only if it is current. */
  readonly snapshot?: AccountSnapshot | undefined;
};

/**
 * Stores tasks and their reservations. Throws if the store is unreachable. Methods with an `owner` treat tasks of other
 * accounts and deleted tasks like unknown ids.
 *
 * A stored task may be unreadable, for example because a newer version of the service has written it. A method that
 * finds one task throws then; lists skip it; claims leave it to an instance that can read it. It is reported.
 *
 * Who may see a task, the queue, the background work and the lists are ports of their own: task-access.ts,
 * task-queue.ts, task-work.ts, task-lists.ts.
 */
export interface TaskStore {
  /**
   * Opens a task atomically. The store locks the account while it decides, or writes only if the account has not
   * changed since, so that two concurrent creations cannot use the same credits, the same budget of a key or the same
   * slot of the account. Stores what `decide` returns: the task, its ledger entry, the account's new standing, what its
   * key has spent and the idempotency key; stores nothing if it refuses.
   *
   * If the idempotency key is already used, `decide` is not called: the same request returns its task as `replayed`,
   * another request, and the key of a deleted task, are rejected (domain/credits/idempotency.ts).
   */
  open<Refusal>(
    opening: TaskOpening<Refusal>,
  ): Promise<Result<{ task: Task; replayed: boolean }, Refusal | InvalidRequest>>;

  /**
   * Stores `next` if the stored task is still in the state and the submission of `current`, and its image in the same
   * storage status (and, with a lease, if no other worker has claimed it since). The same transaction applies all
   * consequences: a failed task's refund entry and credits, what its key has spent, the account's slot of a task that
   * is no longer active, the event of an end or of a saved image with its deliveries, the release of the idempotency
   * key of a refused creation, and of the reference images of a failed task, which are unused from then on, and the
   * turn of a queued task that ends, which its account's newer ones get. `dueAt` is when the next background work is
   * due; `undefined` means never. A move with a lease gives it back; if the owner has deleted the task meanwhile,
   * `erase` is due now, and nobody is told of the image. The next name of an image (`hide`) stays until a move
   * makes it the name.
   */
  move(current: Task | Lease<Task>, next: Task, dueAt: Date | undefined): Promise<Result<void, StaleTask>>;

  find(id: TaskId, owner: AccountId): Promise<Task | undefined>;

  /** Finds the task of any account, unless it is deleted. */
  findBySlug(slug: Slug): Promise<Task | undefined>;

  /** Returns those of the tasks that are no longer active. */
  ended(ids: readonly TaskId[]): Promise<TaskId[]>;

  /**
   * Records the owner's wish to cancel the task (`wantCancel` of domain/tasks/task.ts), and makes the next work on a
   * submitted task due like `TaskWork.makeDueNow`. Writes nothing if the task has left the state or the submission, or
   * if its wish has changed since it was read.
   */
  recordCancelWish(task: SubmittingTask | SubmittedTask, now: Date): Promise<Result<void, StaleTask>>;
}
