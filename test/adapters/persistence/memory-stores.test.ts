import { afterEach, beforeEach, describe, it } from "vitest";
import { memoryStores } from "../../../adapters/memory/memory-stores.js";
import { describeStores } from "../../../contracts/store-contracts.js";
import { describeConcurrentUploads } from "../../support/contracts/concurrent-uploads-contract.js";

describeStores({ describe, it, beforeEach, afterEach }, "in memory", async () => ({
  ...memoryStores(),
  close: async () => {},
}));
describeConcurrentUploads("in memory", async () => ({ ...memoryStores(), close: async () => {} }));
