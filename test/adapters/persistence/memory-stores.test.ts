import { afterEach, beforeEach, describe, it } from "vitest";
import { describeTaskQueue } from "../../../adapters/contracts/tasks/task-queue-contract.js";
import { MemoryLetterOutbox } from "../../../adapters/memory/stores/memory-letter-outbox.js";
import { memoryStores } from "../../../adapters/memory/stores/memory-stores.js";
import { describeConcurrentUploads } from "../../contracts/concurrent-uploads-contract.js";
import { describeLetterOutbox } from "../../contracts/letter-outbox-contract.js";
import { describeOperatorLog, describeOperatorStore } from "../../contracts/operator-store-contract.js";
import { describeStores } from "../../contracts/store-contracts.js";
import { describeTaskRecords } from "../../contracts/task-record-contract.js";

const test = { describe, it, beforeEach, afterEach };
const inMemory = async () => ({ ...memoryStores(), close: async () => {} });

describeStores(test, "in memory", inMemory);
describeTaskQueue(test, "in memory", inMemory);
describeConcurrentUploads(test, "in memory", inMemory);
describeOperatorStore(test, "in memory", inMemory);
describeOperatorLog(test, "in memory", inMemory);
describeTaskRecords(test, "in memory", inMemory);
describeLetterOutbox(test, "in memory", async () => ({ letters: new MemoryLetterOutbox(), close: async () => {} }));
