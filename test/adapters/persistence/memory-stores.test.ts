import { afterEach, beforeEach, describe, it } from "vitest";
import { describeTaskQueue } from "../../../adapters/contracts/tasks/task-queue-contract.js";
import { memoryDatabase } from "../../../adapters/persistence/memory-stores.js";
import { sqlStores } from "../../../adapters/persistence/sql-stores.js";
import { SqlLetterOutbox } from "../../../adapters/persistence/stores/sql-letter-outbox.js";
import { describeConcurrentUploads } from "../../contracts/concurrent-uploads-contract.js";
import { describeLetterOutbox } from "../../contracts/letter-outbox-contract.js";
import { describeOperatorLog, describeOperatorStore } from "../../contracts/operator-store-contract.js";
import { describeStores } from "../../contracts/store-contracts.js";
import { describeTaskRecords } from "../../contracts/task-record-contract.js";

const test = { describe, it, beforeEach, afterEach };
const inMemory = async () => ({ ...sqlStores(memoryDatabase()), close: async () => {} });

describeStores(test, "in memory", inMemory);
describeTaskQueue(test, "in memory", inMemory);
describeConcurrentUploads(test, "in memory", inMemory);
describeOperatorStore(test, "in memory", inMemory);
describeOperatorLog(test, "in memory", inMemory);
describeTaskRecords(test, "in memory", inMemory);
describeLetterOutbox(test, "in memory", async () => ({
  letters: new SqlLetterOutbox(memoryDatabase()),
  close: async () => {},
}));
