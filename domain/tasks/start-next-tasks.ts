import { freeSlots, type ProviderPlace, type Queue } from "./queue.js";
import { type QueuedTask, type ReservedTask, start } from "./task.js";

/**
 * The tasks that start now, and the queue's round afterwards. `hasRoom`: tasks further back in the queue could start,
 * too, because a place has a free slot that none of the given tasks can use.
 */
export type StartedTasks = {
  readonly tasks: readonly ReservedTask[];
  readonly round: number;
  readonly hasRoom: boolean;
};

/**
 * Starts queued tasks in the given order, at most `limit`, each at the first place that can make it and has a free
 * slot. A task without such a place goes on waiting, and does not stop those behind it: when one of its places has a
 * free slot, it is before all tasks with a later turn. `next` are the tasks at the head of the queue: ordered by turn,
 * within a turn by id. `places` are those that take tasks now.
 */
export const startNextTasks = (
  queue: Queue,
  next: readonly QueuedTask[],
  places: readonly ProviderPlace[],
  limit: number,
): StartedTasks => {
  const free = [...freeSlots(queue, places)];
  const tasks: ReservedTask[] = [];
  // A task that has returned to the queue keeps its turn, which may be of an earlier round.
  let { round } = queue;
  for (const task of next) {
    if (tasks.length === limit) break;
    const index = places.findIndex((place, at) => (free[at] ?? 0) > 0 && place.canMake(task.request));
    const place = places[index];
    if (place === undefined) continue;
    free[index] = (free[index] ?? 0) - 1;
    tasks.push(start(task, place.name));
    round = Math.max(round, task.turn);
  }
  return { tasks, round, hasRoom: tasks.length < limit && free.some((slots) => slots > 0) };
};
