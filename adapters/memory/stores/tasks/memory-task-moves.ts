import { err, ok, type Result } from "neverthrow";
import type { Lease, StaleTask } from "../../../../application/ports/stores/tasks/task-store.js";
import { refundEntry } from "../../../../domain/credits/ledger.js";
import { release } from "../../../../domain/credits/reservation.js";
import { isKept } from "../../../../domain/images/storage-status.js";
import { endOf, taskEventOf } from "../../../../domain/tasks/account-event.js";
import { withFailure } from "../../../../domain/tasks/failure-budget.js";
import { turnsAfterEnd } from "../../../../domain/tasks/queue.js";
import {
  type FailedTask,
  isActive,
  isRefusedCreation,
  isRenamed,
  type QueuedTask,
  type SucceededTask,
  type Task,
  withImage,
} from "../../../../domain/tasks/task.js";
import type { MemoryDatabase } from "../memory-database.js";
import {
  imageStatus,
  isWantedEarlier,
  type MemoryTaskContext,
  rowOf,
  submissionsOf,
  waitingOf,
} from "./memory-task-rows.js";

/** A move of a task, and when its next work is due. The lease is given back, or goes on until `leasedUntil`. */
export type MemoryMove = {
  readonly current: Task | Lease<Task>;
  readonly next: Task;
  readonly dueAt: Date | undefined;
  readonly leasedUntil?: Date;
};

/** `TaskStore.move` and `TaskWork.moveWithinLease`. */
export const moveMemoryTask = (
  { database, clock }: MemoryTaskContext,
  { current, next, dueAt, leasedUntil }: MemoryMove,
): Result<void, StaleTask> => {
  const lease = "fence" in current ? current : undefined;
  const before = "fence" in current ? current.task : current;
  const stored = database.tasks.get(before.id);
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
  // Keeps what the owner and operators have changed since `current` was read: the visibility, the wish to cancel it.
  const { withheldReason: _, ...moved } = next;
  const { request, withheldReason } = last;
  const kept = { ...moved, request, ...(withheldReason && { withheldReason }) };
  stored.task = withNextName(last, withPlaceAndFacts(stored, withWishOf(last, kept as Task)));
  noteStage(stored, before, next, clock.now());
  const isWanted = stored.hidden || nextNameOf(last) !== undefined;
  if (!(isWanted && isWantedEarlier(stored))) stored.dueAt = dueAt;
  if (lease !== undefined || next.state !== before.state) stored.leasedUntil = leasedUntil;
  if (next.state === "queued") stored.place = undefined;
  if (isActive(next)) return ok(undefined);
  if (isActive(last)) releaseTask(database, last, next);
  const event = stored.hidden ? undefined : taskEventOf(before, next, clock.now());
  if (event !== undefined) database.recordEvent(event, before.request.webhookUrl, endOf(next));
  return ok(undefined);
};

/** For operators: what the task itself does not keep. */
const noteStage = (stored: ReturnType<typeof rowOf>, before: Task, next: Task, now: Date): void => {
  const { times } = stored;
  if (next.state === "submitted" || next.state === "generated") {
    stored.accepted = { submittedAt: next.submittedAt, upstreamTaskId: next.upstreamTaskId };
  }
  if (next.state === "generated" && before.state !== "generated") stored.times = { ...times, generatedAt: now };
  if (next.state !== "succeeded" || before.state !== "succeeded") return;
  if (isKept(next.image) && !isKept(before.image)) stored.times = { ...times, savedAt: now };
  if (next.image.status === "expired" && before.image.status !== "expired") {
    stored.times = { ...times, expiredAt: now };
  }
};

/** Frees the account's slot. For a failed task, also refunds the credits and releases a refused creation's key. */
const releaseTask = (database: MemoryDatabase, before: Task, next: SucceededTask | FailedTask): void => {
  const account = database.account(next.accountId);
  account.standing = release(account.standing);
  if (before.state === "queued") giveTurnBack(database, before);
  if (next.state !== "failed") return;
  const failures = withFailure(account.standing.failures, next.request, next.failedAt);
  account.standing = { ...account.standing, failures };
  database.book(refundEntry(next.reservation, next.failedAt));
  database.releaseReferences(next.id, next.accountId, next.failedAt);
  if (isRefusedCreation(before, next)) keepKeys(database, ({ taskId }) => taskId !== next.id);
};

const giveTurnBack = (database: MemoryDatabase, { accountId, turn }: QueuedTask): void => {
  const account = database.account(accountId);
  const newer = waitingOf(database)
    .filter((task) => task.accountId === accountId && task.turn > turn)
    .sort((a, b) => a.turn - b.turn);
  const { turns, lastTurn } = turnsAfterEnd(
    turn,
    account.lastTurn,
    newer.map((task) => task.turn),
  );
  for (const [index, task] of newer.entries()) {
    rowOf(database, task.id).task = { ...task, turn: turns[index] ?? task.turn };
  }
  account.lastTurn = lastTurn;
};

/** Forgets the other idempotency keys. */
export const keepKeys = (
  database: MemoryDatabase,
  wanted: (known: MemoryDatabase["idempotencyKeys"][number]) => boolean,
): void => {
  database.idempotencyKeys = database.idempotencyKeys.filter(wanted);
};

/** The place belongs to the store, which has given the slot. Figures are written once. */
const withPlaceAndFacts = ({ task, place }: { task: Task; place: string | undefined }, next: Task): Task => {
  if (next.state === "queued") return next;
  const figures = "figures" in task ? task.figures : undefined;
  return { ...next, place, ...(figures !== undefined && { figures }) };
};

const nextNameOf = (task: Task) => (task.state === "succeeded" ? task.image.nextName : undefined);

/** The next name of an image stays until a move makes it the name. */
const withNextName = (stored: Task, next: Task): Task => {
  const nextName = nextNameOf(stored);
  if (next.state !== "succeeded" || nextName === undefined || isRenamed(stored, next)) return next;
  return withImage(next, { ...next.image, nextName });
};

/** The wish belongs to the stored task until the task can no longer be canceled. */
const withWishOf = (stored: Task, next: Task): Task => {
  if (next.state !== "queued" && next.state !== "reserved" && next.state !== "submitted") return next;
  const { cancelWish, ...rest } = next;
  const wish = cancelWish?.refusedAt === undefined && "cancelWish" in stored ? stored.cancelWish : cancelWish;
  return wish === undefined ? rest : { ...rest, cancelWish: wish };
};
