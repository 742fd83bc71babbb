import { freeSlots, type Queue } from "./queue.js";
import { type QueuedTask, type ReservedTask, start } from "./task.js";

/** The tasks that start now, and the queue's round afterwards. */
export type StartedTasks = { readonly tasks: readonly ReservedTask[]; readonly round: number };

/**
 * Starts as many queued tasks as the provider has free slots, in the given order. `next` are the tasks at the head of
 * the queue: ordered by turn, within a turn by id. Without `concurrencyMax` all of them start.
 */
export const startNextTasks = (
  queue: Queue,
  next: readonly QueuedTask[],
  concurrencyMax: number | undefined,
): StartedTasks => {
  const slots = concurrencyMax === undefined ? next.length : freeSlots(queue, concurrencyMax, next.length);
  const starting = next.slice(0, slots);
  // A task that has returned to the queue keeps its turn, which may be of an earlier round.
  return { tasks: starting.map(start), round: Math.max(queue.round, starting.at(-1)?.turn ?? queue.round) };
};
