import { err, ok, type Result } from "neverthrow";
import type { TaskQueue } from "../../../application/ports/stores/tasks/task-queue.js";
import type { Lease, StaleTask } from "../../../application/ports/stores/tasks/task-store.js";
import {
  freeSlots,
  longestPauseFrom,
  type ProviderPlace,
  type Queue,
  type StartedTasks,
  startNextTasks,
} from "../../../domain/tasks/queue.js";
import { type QueuedTask, requeue, type SubmittingTask } from "../../../domain/tasks/task.js";
import { type Database, inTransaction, type Sql } from "../database/sql/database.js";
import { skipLocked } from "../database/sql/dialect-sql.js";
import { IS_FREE } from "../database/sql/leases.js";
import { update } from "../database/sql/statement.js";
import { writeInOneRoundTrip } from "../database/sql/write-in-one-round-trip.js";
import { anyQueued, countBefore, lockQueue, readRound } from "./queue-rows.js";
import type { SqlTaskContext } from "./sql-task-context.js";
import { stateColumns } from "./task-columns.js";
import { replace } from "./task-moves.js";
import { toTask } from "./task-rows.js";
import { NEXT_PAGE_SIZE } from "./unreadable-tasks.js";

/** The queue in SQLite or PostgreSQL. */
export function sqlTaskQueue(context: SqlTaskContext): TaskQueue {
  const { database } = context;
  return {
    startQueued: (places, limit, now, dueAt) => startQueued(context, { places, limit, now, dueAt }),
    countAhead: ({ turn, id }, max) => countBefore(database.sql, turn, id, max),
    changePlace: (task, place) => changePlaceOfTask(database, task, place),
    requeue: (current, dueAt, startAt) => requeueTask(database, current, dueAt, startAt),
  };
}

/** Arguments of `startQueued`. */
type Start = {
  readonly places: readonly ProviderPlace[];
  readonly limit: number;
  readonly now: Date;
  readonly dueAt: Date;
};

async function startQueued(context: SqlTaskContext, start: Start): Promise<SubmittingTask[]> {
  const { database, observer } = context;
  if (!(await anyQueued(database.sql))) return [];
  const tasks = await inTransaction(database, async (sql) => {
    const { tasks, round } = await startNext(context, sql, await lockQueue(sql), start);
    if (tasks.length > 0) {
      await writeInOneRoundTrip(sql, database.dialect, [
        ...tasks.map((task) =>
          update(
            "task",
            { ...stateColumns(task), started_at: start.now, due_at: start.dueAt, leased_until: null },
            { id: task.id },
          ),
        ),
        { text: "update task_queue set round = ?", parameters: [round] },
      ]);
    }
    return [...tasks];
  });
  for (const task of tasks) observer?.started(task);
  return tasks;
}

/**
 * Reads the queue from its head until no place has a free slot. Rows that cannot be read keep their place in the queue,
 * and do not stop those behind them.
 */
async function startNext(
  { database, unreadable }: SqlTaskContext,
  sql: Sql,
  queue: Queue,
  { places, limit, now }: Start,
): Promise<StartedTasks> {
  const next: QueuedTask[] = [];
  let started = startNextTasks(queue, next, places, limit);
  for (let offset = 0, size = limit; started.hasRoom; offset += size, size = NEXT_PAGE_SIZE) {
    const rows = await sql(
      `select * from task where state = 'queued' and due_at > ? and ${IS_FREE}
      and (start_at is null or start_at <= ? or start_at > ?)
      order by turn, id limit ? offset ? ${skipLocked(database.dialect)}`,
      [now, now, now, longestPauseFrom(now), size, offset],
    );
    // The statement reads queued tasks only.
    next.push(...unreadable.separate(rows, (row) => toTask(row) as QueuedTask).read);
    started = startNextTasks(queue, next, places, limit);
    if (rows.length < size) break;
  }
  return started;
}

/** `TaskQueue.requeue`. */
async function requeueTask(
  database: Database,
  current: SubmittingTask | Lease<SubmittingTask>,
  dueAt: Date,
  startAt: Date | undefined,
): Promise<Result<QueuedTask, StaleTask>> {
  const before = "fence" in current ? current.task : current;
  const queued = requeue(before, before.turn ?? (await readRound(database.sql)));
  const times = { start_at: startAt ?? null };
  return (await replace(database.sql, { current, next: queued, dueAt, times })).map(() => queued);
}

/** `TaskQueue.changePlace`. */
const changePlaceOfTask = async (
  database: Database,
  { id, state, submissions }: SubmittingTask,
  place: ProviderPlace,
): Promise<boolean> => {
  const { text, parameters } = update("task", { place: place.name }, { id, state, submissions });
  const write = async (sql: Sql) => (await sql(`${text} returning id`, parameters)).length === 1;
  if (place.concurrencyMax === undefined) return write(database.sql);
  const { concurrencyMax } = place;
  const changed = await database.transaction<void, "no_slot">(async (sql) => {
    // The row of the task first, then the queue: other transactions lock in this order, too.
    if (!(await write(sql))) return err("no_slot");
    // Its own row is counted now.
    const slots = freeSlots(await lockQueue(sql), [{ ...place, concurrencyMax: concurrencyMax + 1 }]);
    return (slots[0] ?? 0) > 0 ? ok(undefined) : err("no_slot");
  });
  return changed.isOk();
};
