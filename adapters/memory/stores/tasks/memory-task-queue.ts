import { err, ok, type Result } from "neverthrow";
import type { TaskQueue } from "../../../../application/ports/stores/tasks/task-queue.js";
import type { Lease, StaleTask } from "../../../../application/ports/stores/tasks/task-store.js";
import {
  freeSlots,
  longestPauseFrom,
  type ProviderPlace,
  startNextTasks,
  turnsAfterReturn,
} from "../../../../domain/tasks/queue.js";
import { type QueuedTask, type ReservedTask, requeue } from "../../../../domain/tasks/task.js";
import type { MemoryDatabase } from "../memory-database.js";
import { moveMemoryTask } from "./memory-task-moves.js";
import { isLeased, type MemoryTaskContext, queueOf, rowOf, waitingOf } from "./memory-task-rows.js";

/** The queue in memory. Every method runs without an `await`, so it is atomic. */
export const memoryTaskQueue = (context: MemoryTaskContext): TaskQueue => {
  const { database } = context;
  return {
    startQueued: async (places, limit, now, dueAt) => startQueued(database, { places, limit, now, dueAt }),
    countAhead: async ({ turn, id }, max) => {
      const before = waitingOf(database).filter((task) => task.turn < turn || (task.turn === turn && task.id < id));
      return Math.min(before.length, max);
    },
    changePlace: async (task, place) => changePlace(database, task, place),
    requeue: async (current, dueAt, startAt) => requeueTask(context, current, dueAt, startAt),
  };
};

/** What `startQueued` is given. */
type Start = {
  readonly places: readonly ProviderPlace[];
  readonly limit: number;
  readonly now: Date;
  readonly dueAt: Date;
};

const startQueued = (database: MemoryDatabase, { places, limit, now, dueAt }: Start): ReservedTask[] => {
  const mayStart = ({ id }: QueuedTask): boolean => {
    const row = rowOf(database, id);
    const { startAt = now } = row;
    const hasPaused = startAt <= now || startAt > longestPauseFrom(now);
    return !isLeased(row, now) && row.dueAt !== undefined && row.dueAt > now && hasPaused;
  };
  const next = waitingOf(database)
    .filter(mayStart)
    .sort((a, b) => a.turn - b.turn || (a.id < b.id ? -1 : 1));
  const started = startNextTasks(queueOf(database), next, places, limit);
  for (const task of started.tasks) {
    const stored = rowOf(database, task.id);
    const times = { ...stored.times, startedAt: now };
    const row = { ...stored, times, task, place: task.place, dueAt, leasedUntil: undefined };
    database.tasks.set(task.id, row);
  }
  database.round = started.round;
  return [...started.tasks];
};

const changePlace = (database: MemoryDatabase, task: ReservedTask, place: ProviderPlace): boolean => {
  const stored = database.tasks.get(task.id);
  if (stored?.task.state !== "reserved" || stored.task.submissions !== task.submissions) return false;
  const before = stored.place;
  stored.place = place.name;
  const { concurrencyMax = Number.POSITIVE_INFINITY } = place;
  const [free = 0] = freeSlots(queueOf(database), [{ ...place, concurrencyMax: concurrencyMax + 1 }]);
  if (free > 0) stored.task = { ...stored.task, place: place.name };
  else stored.place = before;
  return free > 0;
};

const requeueTask = (
  context: MemoryTaskContext,
  current: ReservedTask | Lease<ReservedTask>,
  dueAt: Date,
  startAt: Date | undefined,
): Result<QueuedTask, StaleTask> => {
  const { database } = context;
  const before = "fence" in current ? current.task : current;
  const { lastTurn } = database.account(before.accountId);
  const newer = waitingOf(database)
    .filter(({ id, accountId }) => accountId === before.accountId && id > before.id)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const turns = turnsAfterReturn(
    queueOf(database),
    lastTurn,
    newer.map(({ turn }) => turn),
  );
  const queued = requeue(before, before.turn ?? turns[0] ?? queueOf(database).round);
  const moved = moveMemoryTask(context, { current, next: queued, dueAt });
  if (moved.isErr()) return err(moved.error);
  rowOf(database, queued.id).startAt = startAt;
  if (before.turn === undefined) {
    for (const [index, task] of newer.entries()) {
      rowOf(database, task.id).task = { ...task, turn: turns[index + 1] ?? task.turn };
    }
    database.account(before.accountId).lastTurn = Math.max(lastTurn, ...turns);
  }
  return ok(queued);
};
