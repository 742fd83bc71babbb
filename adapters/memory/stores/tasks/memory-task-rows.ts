import type { Clock } from "../../../../application/ports/clock.js";
import type { TaskId } from "../../../../domain/ids.js";
import type { Queue } from "../../../../domain/tasks/queue.js";
import type { QueuedTask, Task } from "../../../../domain/tasks/task.js";
import type { MemoryDatabase } from "../memory-database.js";

/** What the ports of tasks on one database share. `clock`: for events of tasks without a time. */
export type MemoryTaskContext = { readonly database: MemoryDatabase; readonly clock: Pick<Clock, "now"> };

export type MemoryRow = { dueAt: Date | undefined; leasedUntil?: Date | undefined };

/** Somebody has the task now. */
export const isLeased = ({ leasedUntil }: MemoryRow, now: Date): boolean =>
  leasedUntil !== undefined && leasedUntil > now;

/** Somebody has wanted the work on a leased task earlier than at the end of its lease. */
export const isWantedEarlier = ({ dueAt, leasedUntil }: MemoryRow): boolean =>
  dueAt !== undefined && leasedUntil !== undefined && dueAt < leasedUntil;

/** How often the task was sent, if it can be sent again. */
export const submissionsOf = (task: Task) => ("submissions" in task ? task.submissions : undefined);

/** The storage status of its image, if it has one. */
export const imageStatus = (task: Task) => (task.state === "succeeded" ? task.image.status : undefined);

/** Throws if there is no such task. */
export const rowOf = (database: MemoryDatabase, id: TaskId) => {
  const stored = database.tasks.get(id);
  if (stored === undefined) throw new Error(`there is no task ${id}`);
  return stored;
};

/** All tasks in the queue. */
export const waitingOf = ({ tasks }: MemoryDatabase): QueuedTask[] =>
  [...tasks.values()].flatMap(({ task }) => (task.state === "queued" ? [task] : []));

/** The queue as it is now. */
export const queueOf = (database: MemoryDatabase): Queue => {
  const running = new Map<string | undefined, number>();
  for (const { task, place, dueAt } of database.tasks.values()) {
    if ((task.state !== "reserved" && task.state !== "submitted") || dueAt === undefined) continue;
    running.set(place, (running.get(place) ?? 0) + 1);
  }
  return { running, waiting: waitingOf(database).length, round: database.round };
};
