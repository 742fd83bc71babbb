import { err, ok, type Result } from "neverthrow";
import type { Lease, StaleTask } from "../../../../application/ports/stores/tasks/task-store.js";
import { freeSlots, type ProviderPlace } from "../../../../domain/tasks/queue.js";
import { type QueuedTask, requeue, type SubmittingTask } from "../../../../domain/tasks/task.js";
import type { Database, Sql } from "../../sql/database.js";
import { update } from "../../sql/statement.js";
import { lockQueue } from "../queue-rows.js";
import { takeTurn } from "../turn-rows.js";
import { replace } from "./task-moves.js";

/** `TaskQueue.requeue`. */
export const requeueTask = async (
  database: Database,
  current: SubmittingTask | Lease<SubmittingTask>,
  dueAt: Date,
  startAt: Date | undefined,
): Promise<Result<QueuedTask, StaleTask>> => {
  const before = "fence" in current ? current.task : current;
  const times = { start_at: startAt ?? null };
  if (before.turn !== undefined) {
    const queued = requeue(before, before.turn);
    return (await replace(database.sql, { current, next: queued, dueAt, times })).map(() => queued);
  }
  return database.transaction(async (sql) => {
    // The row of the task first, then the account, then the queue: other transactions lock in this order, too.
    const replaced = await replace(sql, { current, next: requeue(before, 0), dueAt, times });
    if (replaced.isErr()) return err(replaced.error);
    return ok(requeue(before, await takeTurn(sql, database.dialect, before)));
  });
};

/** `TaskQueue.changePlace`. */
export const changePlaceOfTask = async (
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
