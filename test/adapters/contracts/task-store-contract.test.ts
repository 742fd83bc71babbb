import { afterEach, beforeEach, describe, it } from "vitest";
import { describeTaskStore } from "../../../adapters/contracts/task-store-contract.js";
import { MemoryDatabase } from "../../../adapters/memory/memory-database.js";
import { memoryStores } from "../../../adapters/memory/memory-stores.js";
import { MemoryTaskStore } from "../../../adapters/memory/memory-task-store.js";

const none = () => Promise.reject(new Error("this store has no queue"));

/** As an embedder may write it whose provider takes every task at once. */
class TaskStoreWithoutQueue extends MemoryTaskStore {
  override open: MemoryTaskStore["open"] = ({ queue, ...opening }) =>
    queue === undefined ? super.open(opening) : none();
  override startQueued = none;
  override countAhead = none;
  override changePlace = none;
  override requeue = none;
}

describeTaskStore({ describe, it, beforeEach, afterEach }, "without a queue", async () => {
  const database = new MemoryDatabase();
  return { ...memoryStores(database), tasks: new TaskStoreWithoutQueue(database), close: async () => {} };
});
