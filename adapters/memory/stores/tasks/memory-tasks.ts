import type { Clock } from "../../../../application/ports/clock.js";
import type { TaskPorts } from "../../../../application/ports/stores/tasks/task-ports.js";
import type { MemoryDatabase } from "../memory-database.js";
import { memoryTaskLists } from "./memory-task-lists.js";
import { memoryTaskQueue } from "./memory-task-queue.js";
import { memoryTaskStore } from "./memory-task-store.js";
import { memoryTaskWork } from "./memory-task-work.js";

/** Tasks in memory. `clock`: for events of tasks without a time. Default: the time of the system. */
export const memoryTasks = (
  database: MemoryDatabase,
  clock: Pick<Clock, "now"> = { now: () => new Date() },
): TaskPorts => {
  const context = { database, clock };
  return {
    ...memoryTaskStore(context),
    ...memoryTaskQueue(context),
    ...memoryTaskWork(context),
    ...memoryTaskLists(context),
  };
};
