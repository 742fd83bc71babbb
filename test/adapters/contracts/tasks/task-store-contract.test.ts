import { afterEach, beforeEach, describe, it } from "vitest";
import { describeTaskStore } from "../../../../adapters/contracts/tasks/task-store-contract.js";
import { MemoryDatabase } from "../../../../adapters/memory/stores/memory-database.js";
import { memoryStores } from "../../../../adapters/memory/stores/memory-stores.js";
import { memoryTasks } from "../../../../adapters/memory/stores/tasks/memory-tasks.js";
import type { TaskPorts } from "../../../../application/ports/stores/tasks/task-ports.js";

const none = () => Promise.reject(new Error("this store has no queue"));

/** As an embedder may write it whose provider takes every task at once. */
const tasksWithoutQueue = (database: MemoryDatabase): TaskPorts => {
  const tasks = memoryTasks(database);
  return {
    ...tasks,
    open: ({ queue, ...opening }) => (queue === undefined ? tasks.open(opening) : none()),
    startQueued: none,
    countAhead: none,
    changePlace: none,
    requeue: none,
  };
};

describeTaskStore({ describe, it, beforeEach, afterEach }, "without a queue", async () => {
  const database = new MemoryDatabase();
  return { ...memoryStores(database), tasks: tasksWithoutQueue(database), close: async () => {} };
});
