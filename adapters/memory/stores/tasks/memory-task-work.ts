import type { Lease } from "../../../../application/ports/stores/tasks/task-store.js";
import type {
  DueBounds,
  DueWork,
  Postponement,
  TaskWork,
} from "../../../../application/ports/stores/tasks/task-work.js";
import type { TaskId } from "../../../../domain/ids.js";
import { type SubmittedTask, type Task, withoutTexts } from "../../../../domain/tasks/task.js";
import type { MemoryDatabase } from "../memory-database.js";
import { keepKeys, moveMemoryTask } from "./memory-task-moves.js";
import { isLeased, isWantedEarlier, type MemoryRow, type MemoryTaskContext } from "./memory-task-rows.js";

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
  return task.state !== "succeeded" || hidden === (work === "erase");
};

/** The background work in memory. Every method runs without an `await`, so it is atomic. */
export const memoryTaskWork = (context: MemoryTaskContext): TaskWork => {
  const { database } = context;
  return {
    claim: async (work, now, until, limit) => claim(database, work, { now, until, limit }),
    lease: async (task, now, until) => lease(database, task, now, until),
    moveWithinLease: async (current, next, until) =>
      moveMemoryTask(context, { current, next, dueAt: until, leasedUntil: until }),
    postpone: async (postponements) => postpone(database, postponements),
    makeDueNow: async (id, now) => makeDueNow(database, id, now),
    bringForward: async (work, bounds) => bringForward(database, work, bounds),
    eraseTexts: async (before, limit) => eraseTexts(database, before, limit),
    forgetIdempotencyKeys: async (before) => keepKeys(database, ({ createdAt }) => createdAt >= before),
  };
};

/** When a claim is made, when its leases end, and how many there may be. */
type Claim = { readonly now: Date; readonly until: Date; readonly limit: number };

const claim = <Work extends keyof DueWork>(
  database: MemoryDatabase,
  work: Work,
  { now, until, limit }: Claim,
): Lease<DueWork[Work]>[] => {
  const due = [...database.tasks.values()].flatMap((stored) =>
    isRowOf(work, stored) && stored.dueAt !== undefined && stored.dueAt <= now && !isLeased(stored, now)
      ? [{ stored, since: stored.dueAt.getTime() }]
      : [],
  );
  return due
    .sort((a, b) => a.since - b.since)
    .slice(0, limit)
    .map(({ stored }) => takeLease(stored, stored.task as DueWork[Work], until));
};

const lease = (
  database: MemoryDatabase,
  task: SubmittedTask,
  now: Date,
  until: Date,
): Lease<SubmittedTask> | undefined => {
  const stored = database.shown(task.id, task.accountId);
  if (stored?.task.state !== "submitted" || isLeased(stored, now)) return undefined;
  return takeLease(stored, stored.task, until);
};

const postpone = (database: MemoryDatabase, postponements: readonly Postponement[]): void => {
  for (const { lease, dueAt } of postponements) {
    const stored = database.tasks.get(lease.task.id);
    if (stored?.fence !== lease.fence || stored.task.state !== lease.task.state) continue;
    if (!isWantedEarlier(stored) || stored.dueAt === undefined || stored.dueAt > dueAt) stored.dueAt = dueAt;
    stored.leasedUntil = undefined;
  }
};

/** `TaskWork.makeDueNow`. */
export const makeDueNow = (database: MemoryDatabase, id: TaskId, now: Date): void => {
  const stored = database.tasks.get(id);
  if (stored?.task.state !== "submitted" || stored.dueAt === undefined || stored.dueAt <= now) return;
  stored.dueAt = now;
};

const bringForward = (database: MemoryDatabase, work: keyof DueWork, bounds: () => DueBounds): void => {
  const isLate = ({ dueAt, leasedUntil }: MemoryRow, { now, latest }: DueBounds) =>
    dueAt !== undefined && (dueAt > latest || (dueAt <= now && leasedUntil !== undefined && leasedUntil > latest));
  const boundsBefore = bounds();
  const late = [...database.tasks.values()].filter((row) => isRowOf(work, row) && isLate(row, boundsBefore));
  if (late.length === 0) return;
  const { latest, dueAt, ...others } = bounds();
  for (const stored of late) {
    if (stored.dueAt === undefined || !isLate(stored, { latest, dueAt, ...others })) continue;
    const leaseIsLate = stored.leasedUntil !== undefined && stored.leasedUntil > latest;
    if (stored.dueAt > latest) stored.dueAt = leaseIsLate ? latest : dueAt;
    if (leaseIsLate) stored.leasedUntil = latest;
  }
};

const eraseTexts = (database: MemoryDatabase, before: Date, limit: number): number => {
  const due = [...database.tasks.values()].flatMap((stored) => {
    const endedAt = stored.hiddenAt ?? (stored.task.state === "failed" ? stored.task.failedAt : undefined);
    return !stored.textsErased && endedAt !== undefined && endedAt < before ? [{ stored, endedAt }] : [];
  });
  const oldest = due.sort((a, b) => a.endedAt.getTime() - b.endedAt.getTime()).slice(0, limit);
  for (const { stored } of oldest) {
    stored.task = withoutTexts(stored.task);
    stored.textsErased = true;
    if (!stored.hidden) continue;
    database.deleteReadEvents(stored.task.id);
    database.eraseWebhookUrl(stored.task.id);
  }
  return oldest.length;
};

const takeLease = <T extends Task>(stored: MemoryRow & { fence: number }, task: T, until: Date): Lease<T> => {
  stored.dueAt = until;
  stored.leasedUntil = until;
  stored.fence += 1;
  return { task, fence: stored.fence };
};
