import { afterEach, beforeEach, describe, it } from "vitest";
import { describeTaskStore } from "../../../../adapters/contracts/tasks/task-store-contract.js";
import { memoryDatabase } from "../../../../adapters/persistence/memory-stores.js";
import { sqlStores } from "../../../../adapters/persistence/sql-stores.js";
import type { TaskPorts } from "../../../../application/ports/stores/stores.js";

const none = () => Promise.reject(new Error("this store has no queue"));

/** As an embedder may write it whose provider takes every task at once. */
const withoutQueue = (tasks: TaskPorts): TaskPorts => ({
  ...tasks,
  open: ({ queue, ...opening }) => (queue === undefined ? tasks.open(opening) : none()),
  startQueued: none,
  countAhead: none,
  changePlace: none,
  requeue: none,
});

describeTaskStore({ describe, it, beforeEach, afterEach }, "without a queue", async () => {
  const stores = sqlStores(memoryDatabase());
  return { ...stores, tasks: withoutQueue(stores.tasks), close: async () => {} };
});
