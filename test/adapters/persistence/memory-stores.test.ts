import { afterEach, beforeEach, describe, it } from "vitest";
import { describeStores } from "../../../adapters/contracts/store-contracts.js";
import { memoryStores } from "../../../adapters/memory/memory-stores.js";
import { describeConcurrentUploads } from "../../support/contracts/concurrent-uploads-contract.js";

describeStores({ describe, it, beforeEach, afterEach }, "in memory", async () => ({
  ...memoryStores(),
  close: async () => {},
}));
describeConcurrentUploads("in memory", async () => ({ ...memoryStores(), close: async () => {} }));
