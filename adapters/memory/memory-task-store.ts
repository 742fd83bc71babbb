import { err, ok, type Result } from "neverthrow";
import { deletedReplay, type NotFound, notFound } from "../../application/errors.js";
import type { Clock } from "../../application/ports/clock.js";
import type {
  DueBounds,
  DueWork,
  Lease,
  Postponement,
  StaleTask,
  TaskOpening,
  TaskStore,
} from "../../application/ports/task-store.js";
import type { AccountId } from "../../domain/account.js";
import { endOf, taskEventOf } from "../../domain/account-event.js";
import type { CreationRequest } from "../../domain/creation-request.js";
import { withFailure } from "../../domain/failure-budget.js";
import { sameRequest } from "../../domain/idempotency.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { refundEntry, reservationEntry } from "../../domain/ledger.js";
import type { ObjectName } from "../../domain/object-name.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { isFoundBy } from "../../domain/prompt-search.js";
import {
  freeSlots,
  nextTurn,
  type ProviderPlace,
  placeOfNewTask,
  type Queue,
  type QueuePlace,
  turnsAfterEnd,
  turnsAfterReturn,
} from "../../domain/queue.js";
import { requireStored } from "../../domain/reference-image.js";
import { release } from "../../domain/reserve.js";
import type { Slug } from "../../domain/slug.js";
import { startNextTasks } from "../../domain/start-next-tasks.js";
import { isKept } from "../../domain/storage-status.js";
import {
  type FailedTask,
  isActive,
  isInGallery,
  isRefusedCreation,
  type QueuedTask,
  type ReservedTask,
  requeue,
  type SubmittedTask,
  type SucceededTask,
  type Task,
  wantCancel,
  withoutTexts,
} from "../../domain/task.js";
import { matchesFilter, type TaskFilter } from "../../domain/task-filter.js";
import type { TaskId } from "../../domain/task-id.js";
import type { Visibility } from "../../domain/visibility.js";
import type { MemoryDatabase } from "./memory-database.js";

const stateOfWork = {
  giveUp: "queued",
  sweep: "reserved",
  settle: "submitted",
  check: "generated",
  keep: "succeeded",
  erase: "succeeded",
} as const;

const isRowOf = (work: keyof DueWork, { task, hidden }: { readonly task: Task; readonly hidden: boolean }): boolean => {
  if (task.state !== stateOfWork[work]) return false;
  return task.state !== "succeeded" || (hidden || task.image.status === "expired") === (work === "erase");
};

type MemoryRow = { dueAt: Date | undefined; leasedUntil?: Date | undefined };

const isLeased = ({ leasedUntil }: MemoryRow, now: Date): boolean => leasedUntil !== undefined && leasedUntil > now;

/** Somebody has wanted the work on a leased task earlier than at the end of its lease. */
const isWantedEarlier = ({ dueAt, leasedUntil }: MemoryRow): boolean =>
  dueAt !== undefined && leasedUntil !== undefined && dueAt < leasedUntil;

/** Tasks in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryTaskStore implements TaskStore {
  private readonly database: MemoryDatabase;
  private readonly clock: Pick<Clock, "now">;

  /** `clock`: for events of tasks without a time. */
  constructor(database: MemoryDatabase, clock: Pick<Clock, "now"> = { now: () => new Date() }) {
    this.database = database;
    this.clock = clock;
  }

  async open<Refusal>(
    opening: TaskOpening<Refusal>,
  ): Promise<Result<{ task: Task; replayed: boolean }, Refusal | InvalidRequest | NotFound>> {
    const { account, dueAt, idempotent, decide, queue, references = new Map<number, ObjectName>(), spender } = opening;
    const { tasks, ledger } = this.database;
    const stored = this.database.account(account);
    if (idempotent !== undefined) {
      const known = this.keysOf(account).find(({ key }) => key === idempotent.key);
      if (known !== undefined) {
        const { task, hidden } = this.row(known.taskId);
        const same = sameRequest(known.requestSha256, idempotent, PANORAMA_POLICY.idempotencyHours);
        if (same.isErr()) return err(same.error);
        return hidden ? err(deletedReplay(task.id)) : ok({ task, replayed: true });
      }
    }
    const known = [...this.database.references].flatMap(([name, { deleteAt }]) => (deleteAt ? [] : [name]));
    const found = requireStored(references, new Set(known));
    if (found.isErr()) return err(found.error);
    const used = new Set(references.values());
    const place = queue && placeOfNewTask(this.queue, queue.places)?.name;
    const mustWait = queue !== undefined && place === undefined;
    const queuePlace = mustWait ? this.placeOf(nextTurn(this.queue, stored.lastTurn)) : undefined;
    const spending = spender && this.database.spendingOf(spender.apiKeyId, spender.now);
    return decide(stored.standing, queuePlace, spending, place).map(({ task, standing, lowBalance }) => {
      stored.lastTurn = queuePlace?.turn ?? stored.lastTurn;
      const due = task.state === "queued" && queue ? queue.dueAt : dueAt;
      tasks.set(task.id, { task, place, dueAt: due, fence: 0, hidden: false });
      ledger.push(reservationEntry(task.reservation, task.reservedAt));
      stored.standing = standing;
      if (used.size > 0) this.database.taskReferences.set(task.id, used);
      this.database.removeUploads(({ accountId, name }) => accountId === account && used.has(name));
      if (idempotent !== undefined) {
        const { key, requestSha256 } = idempotent;
        this.database.idempotencyKeys.push({
          accountId: account,
          key,
          requestSha256,
          taskId: task.id,
          createdAt: task.reservedAt,
        });
      }
      if (lowBalance !== undefined) {
        const { reservedAt: at } = task;
        const event = { type: "credits.low", accountId: account, remainingCredits: lowBalance.balance, at } as const;
        this.database.recordEvent(event, undefined, at);
      }
      return { task, replayed: false };
    });
  }

  async startQueued(places: readonly ProviderPlace[], limit: number, now: Date, dueAt: Date): Promise<ReservedTask[]> {
    const mayStart = ({ id }: QueuedTask): boolean => {
      const row = this.row(id);
      return !isLeased(row, now) && row.dueAt !== undefined && row.dueAt > now;
    };
    const next = this.waiting.filter(mayStart).sort((a, b) => a.turn - b.turn || (a.id < b.id ? -1 : 1));
    const started = startNextTasks(this.queue, next, places, limit);
    for (const task of started.tasks) {
      const row = { ...this.row(task.id), task, place: task.place, dueAt, leasedUntil: undefined };
      this.database.tasks.set(task.id, row);
    }
    this.database.round = started.round;
    return [...started.tasks];
  }

  async countAhead({ turn, id }: QueuedTask, max: number): Promise<number> {
    const before = this.waiting.filter((task) => task.turn < turn || (task.turn === turn && task.id < id));
    return Math.min(before.length, max);
  }

  async changePlace(task: ReservedTask, place: ProviderPlace): Promise<boolean> {
    const stored = this.database.tasks.get(task.id);
    if (stored?.task.state !== "reserved" || stored.task.submissions !== task.submissions) return false;
    const before = stored.place;
    stored.place = place.name;
    const { concurrencyMax = Number.POSITIVE_INFINITY } = place;
    const [free = 0] = freeSlots(this.queue, [{ ...place, concurrencyMax: concurrencyMax + 1 }]);
    if (free > 0) stored.task = { ...stored.task, place: place.name };
    else stored.place = before;
    return free > 0;
  }

  async requeue(current: ReservedTask | Lease<ReservedTask>, dueAt: Date): Promise<Result<QueuedTask, StaleTask>> {
    const before = "fence" in current ? current.task : current;
    const { lastTurn } = this.database.account(before.accountId);
    const newer = this.waiting
      .filter(({ id, accountId }) => accountId === before.accountId && id > before.id)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const turns = turnsAfterReturn(
      this.queue,
      lastTurn,
      newer.map(({ turn }) => turn),
    );
    const queued = requeue(before, before.turn ?? turns[0] ?? this.queue.round);
    const moved = this.replace(current, queued, dueAt);
    if (moved.isErr()) return err(moved.error);
    if (before.turn === undefined) {
      for (const [index, task] of newer.entries()) {
        this.row(task.id).task = { ...task, turn: turns[index + 1] ?? task.turn };
      }
      this.database.account(before.accountId).lastTurn = Math.max(lastTurn, ...turns);
    }
    return ok(queued);
  }

  async find(id: TaskId, owner: AccountId): Promise<Task | undefined> {
    return this.shown(id, owner)?.task;
  }

  async findBySlug(slug: Slug): Promise<Task | undefined> {
    return [...this.database.tasks.values()].find(({ task, hidden }) => task.slug === slug && !hidden)?.task;
  }

  async ended(ids: readonly TaskId[]): Promise<TaskId[]> {
    return ids.filter((id) => {
      const stored = this.database.tasks.get(id);
      return stored !== undefined && !isActive(stored.task);
    });
  }

  async list(
    owner: AccountId,
    limit: number,
    beyond: TaskId | undefined,
    filter: TaskFilter = {},
    first: "newest" | "oldest" = "newest",
  ): Promise<Task[]> {
    const wanted = (task: Task): task is Task => task.accountId === owner && matchesFilter(task, filter);
    return this.inOrder(first, limit, beyond, wanted);
  }

  async listPublic(
    limit: number,
    beyond: TaskId | undefined,
    first: "newest" | "oldest" = "newest",
  ): Promise<SucceededTask[]> {
    return this.inOrder(first, limit, beyond, isInGallery);
  }

  async searchPublic(
    words: readonly string[],
    limit: number,
    beyond: TaskId | undefined,
    first: "newest" | "oldest" = "newest",
  ): Promise<SucceededTask[]> {
    const isFound = (task: Task): task is SucceededTask =>
      isInGallery(task) && isFoundBy(words, task.request.prompt ?? "");
    return this.inOrder(first, limit, beyond, isFound);
  }

  async listFailedImages(limit: number, before: TaskId | undefined): Promise<SucceededTask[]> {
    const hasFailed = (task: Task): task is SucceededTask => imageStatus(task) === "failed";
    return this.inOrder("newest", limit, before, hasFailed);
  }

  async listKeptImages(succeededBefore: Date, limit: number): Promise<SucceededTask[]> {
    return [...this.database.tasks.values()]
      .flatMap(({ task, hidden }) => (!hidden && task.state === "succeeded" && isKept(task.image) ? [task] : []))
      .filter(({ succeededAt }) => succeededAt < succeededBefore)
      .sort((a, b) => a.succeededAt.getTime() - b.succeededAt.getTime())
      .slice(0, limit);
  }

  async setVisibility(id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound>> {
    const stored = this.shown(id, owner);
    if (stored === undefined) return err(notFound(`There is no task ${id}.`));
    stored.task = { ...stored.task, request: { ...stored.task.request, visibility } as CreationRequest };
    return ok(undefined);
  }

  async hide(id: TaskId, owner: AccountId, now: Date): Promise<Result<void, NotFound>> {
    const stored = this.shown(id, owner);
    if (stored === undefined) return err(notFound(`There is no task ${id}.`));
    stored.hidden = true;
    stored.hiddenAt = now;
    stored.dueAt = stored.task.state === "succeeded" ? now : undefined;
    this.database.releaseReferences(id, owner, new Date(0));
    this.database.deleteReadEvents(id);
    return ok(undefined);
  }

  async isHidden(id: TaskId, owner: AccountId): Promise<boolean> {
    const stored = this.database.tasks.get(id);
    return stored?.task.accountId === owner && stored.hidden;
  }

  async claim<Work extends keyof DueWork>(
    work: Work,
    now: Date,
    until: Date,
    limit: number,
  ): Promise<Lease<DueWork[Work]>[]> {
    const due = [...this.database.tasks.values()].flatMap((stored) =>
      isRowOf(work, stored) && stored.dueAt !== undefined && stored.dueAt <= now && !isLeased(stored, now)
        ? [{ stored, since: stored.dueAt.getTime() }]
        : [],
    );
    return due
      .sort((a, b) => a.since - b.since)
      .slice(0, limit)
      .map(({ stored }) => {
        return takeLease(stored, stored.task as DueWork[Work], until);
      });
  }

  async move(current: Task | Lease<Task>, next: Task, dueAt: Date | undefined): Promise<Result<void, StaleTask>> {
    return this.replace(current, next, dueAt);
  }

  async moveWithinLease(lease: Lease<Task>, next: Task, until: Date): Promise<Result<void, StaleTask>> {
    return this.replace(lease, next, until, until);
  }

  private replace(
    current: Task | Lease<Task>,
    next: Task,
    dueAt: Date | undefined,
    leasedUntil?: Date,
  ): Result<void, StaleTask> {
    const lease = "fence" in current ? current : undefined;
    const before = "fence" in current ? current.task : current;
    const stored = this.database.tasks.get(before.id);
    if (
      stored === undefined ||
      stored.task.state !== before.state ||
      submissionsOf(stored.task) !== submissionsOf(before) ||
      imageStatus(stored.task) !== imageStatus(before) ||
      (lease !== undefined && lease.fence !== stored.fence)
    ) {
      return err({ kind: "stale_task", id: before.id });
    }
    const last = stored.task;
    // Keeps what the owner has changed since `current` was read: the visibility, and the wish to cancel it.
    stored.task = withWishOf(last, { ...next, request: last.request });
    if (!(stored.hidden && isWantedEarlier(stored))) stored.dueAt = dueAt;
    if (lease !== undefined || next.state !== before.state) stored.leasedUntil = leasedUntil;
    if (next.state === "queued") stored.place = undefined;
    if (isActive(next)) return ok(undefined);
    if (isActive(last)) this.release(last, next);
    const event = stored.hidden ? undefined : taskEventOf(before, next, this.clock.now());
    if (event !== undefined) this.database.recordEvent(event, before.request.webhookUrl, endOf(next));
    return ok(undefined);
  }

  async lease(task: SubmittedTask, now: Date, until: Date): Promise<Lease<SubmittedTask> | undefined> {
    const stored = this.shown(task.id, task.accountId);
    if (stored?.task.state !== "submitted" || isLeased(stored, now)) return undefined;
    return takeLease(stored, stored.task, until);
  }

  async recordCancelWish(task: ReservedTask | SubmittedTask, now: Date): Promise<Result<void, StaleTask>> {
    const stored = this.shown(task.id, task.accountId);
    if (
      (stored?.task.state !== "reserved" && stored?.task.state !== "submitted") ||
      stored.task.state !== task.state ||
      submissionsOf(stored.task) !== submissionsOf(task) ||
      stored.task.cancelWish?.refusedAt?.getTime() !== task.cancelWish?.refusedAt?.getTime()
    ) {
      return err({ kind: "stale_task", id: task.id });
    }
    stored.task = wantCancel(stored.task, now);
    await this.makeDueNow(task.id, now);
    return ok(undefined);
  }

  async makeDueNow(id: TaskId, now: Date): Promise<void> {
    const stored = this.database.tasks.get(id);
    if (stored?.task.state !== "submitted" || stored.dueAt === undefined || stored.dueAt <= now) return;
    stored.dueAt = now;
  }

  async bringForward(work: keyof DueWork, bounds: () => DueBounds): Promise<void> {
    const isLate = ({ dueAt, leasedUntil }: MemoryRow, { now, latest }: DueBounds) =>
      dueAt !== undefined && (dueAt > latest || (dueAt <= now && leasedUntil !== undefined && leasedUntil > latest));
    const boundsBefore = bounds();
    const late = [...this.database.tasks.values()].filter((row) => isRowOf(work, row) && isLate(row, boundsBefore));
    if (late.length === 0) return;
    const { latest, dueAt, ...others } = bounds();
    for (const stored of late) {
      if (stored.dueAt === undefined || !isLate(stored, { latest, dueAt, ...others })) continue;
      const leaseIsLate = stored.leasedUntil !== undefined && stored.leasedUntil > latest;
      if (stored.dueAt > latest) stored.dueAt = leaseIsLate ? latest : dueAt;
      if (leaseIsLate) stored.leasedUntil = latest;
    }
  }

  async postpone(postponements: readonly Postponement[]): Promise<void> {
    for (const { lease, dueAt } of postponements) {
      const stored = this.database.tasks.get(lease.task.id);
      if (stored?.fence !== lease.fence || stored.task.state !== lease.task.state) continue;
      if (!isWantedEarlier(stored) || stored.dueAt === undefined || stored.dueAt > dueAt) stored.dueAt = dueAt;
      stored.leasedUntil = undefined;
    }
  }

  async eraseTexts(before: Date, limit: number): Promise<number> {
    const due = [...this.database.tasks.values()].flatMap((stored) => {
      const endedAt = stored.hiddenAt ?? (stored.task.state === "failed" ? stored.task.failedAt : undefined);
      return !stored.textsErased && endedAt !== undefined && endedAt < before ? [{ stored, endedAt }] : [];
    });
    const oldest = due.sort((a, b) => a.endedAt.getTime() - b.endedAt.getTime()).slice(0, limit);
    for (const { stored } of oldest) {
      stored.task = withoutTexts(stored.task);
      stored.textsErased = true;
      if (stored.hidden) this.database.deleteReadEvents(stored.task.id);
    }
    return oldest.length;
  }

  async forgetIdempotencyKeys(before: Date): Promise<void> {
    this.keepKeys(({ createdAt }) => createdAt >= before);
  }

  /** Frees the account's slot. For a failed task, also refunds the credits and releases a refused creation's key. */
  private release(before: Task, next: SucceededTask | FailedTask): void {
    const account = this.database.account(next.accountId);
    account.standing = release(account.standing, next.reservation);
    if (before.state === "queued") this.giveTurnBack(before);
    if (next.state !== "failed") return;
    const failures = withFailure(account.standing.failures, next.request, next.failedAt);
    account.standing = { ...account.standing, failures };
    this.database.ledger.push(refundEntry(next.reservation, next.failedAt));
    this.database.releaseReferences(next.id, next.accountId, next.failedAt);
    if (isRefusedCreation(before, next)) this.keepKeys(({ taskId }) => taskId !== next.id);
  }

  private giveTurnBack({ accountId, turn }: QueuedTask): void {
    const account = this.database.account(accountId);
    const newer = this.waiting
      .filter((task) => task.accountId === accountId && task.turn > turn)
      .sort((a, b) => a.turn - b.turn);
    const { turns, lastTurn } = turnsAfterEnd(
      turn,
      account.lastTurn,
      newer.map((task) => task.turn),
    );
    for (const [index, task] of newer.entries()) {
      this.row(task.id).task = { ...task, turn: turns[index] ?? task.turn };
    }
    account.lastTurn = lastTurn;
  }

  private get queue(): Queue {
    const running = new Map<string | undefined, number>();
    for (const { task, place, dueAt } of this.database.tasks.values()) {
      if ((task.state !== "reserved" && task.state !== "submitted") || dueAt === undefined) continue;
      running.set(place, (running.get(place) ?? 0) + 1);
    }
    return { running, waiting: this.waiting.length, round: this.database.round };
  }

  private get waiting(): QueuedTask[] {
    return [...this.database.tasks.values()].flatMap(({ task }) => (task.state === "queued" ? [task] : []));
  }

  private placeOf(turn: number): QueuePlace {
    const ahead = this.waiting.filter((task) => task.turn <= turn).length;
    return { turn, ahead, waiting: this.waiting.length };
  }

  private shown(id: TaskId, owner: AccountId) {
    return this.database.shown(id, owner);
  }

  private inOrder<T extends Task>(
    first: "newest" | "oldest",
    limit: number,
    beyond: TaskId | undefined,
    wanted: (task: Task) => task is T,
  ): T[] {
    const comesFirst = (one: TaskId, other: TaskId) => (first === "newest" ? one > other : one < other);
    return [...this.database.tasks.values()]
      .filter(({ task, hidden }) => !hidden && (beyond === undefined || comesFirst(beyond, task.id)))
      .map(({ task }) => task)
      .filter(wanted)
      .sort((a, b) => (comesFirst(a.id, b.id) ? -1 : 1))
      .slice(0, limit);
  }

  private row(id: TaskId) {
    const stored = this.database.tasks.get(id);
    if (stored === undefined) throw new Error(`there is no task ${id}`);
    return stored;
  }

  private keysOf(account: AccountId) {
    return this.database.idempotencyKeys.filter(({ accountId }) => accountId === account);
  }

  private keepKeys(wanted: (known: MemoryDatabase["idempotencyKeys"][number]) => boolean): void {
    this.database.idempotencyKeys = this.database.idempotencyKeys.filter(wanted);
  }
}

const takeLease = <T extends Task>(stored: MemoryRow & { fence: number }, task: T, until: Date): Lease<T> => {
  stored.dueAt = until;
  stored.leasedUntil = until;
  stored.fence += 1;
  return { task, fence: stored.fence };
};

/** The wish belongs to the stored task until the task can no longer be canceled. */
const withWishOf = (stored: Task, next: Task): Task => {
  if (next.state !== "queued" && next.state !== "reserved" && next.state !== "submitted") return next;
  const { cancelWish, ...rest } = next;
  const wish = cancelWish?.refusedAt === undefined && "cancelWish" in stored ? stored.cancelWish : cancelWish;
  return wish === undefined ? rest : { ...rest, cancelWish: wish };
};

const submissionsOf = (task: Task) => ("submissions" in task ? task.submissions : undefined);

const imageStatus = (task: Task) => (task.state === "succeeded" ? task.image.status : undefined);
