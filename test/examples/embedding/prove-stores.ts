// The contract suites of all stores, here with the memory stores: pass your own stores instead.
import { afterEach, beforeEach, describe, it } from "node:test";
import { describeStores } from "panorama-core/contracts/store-contracts";
import { memoryStores } from "panorama-core/memory/memory-stores";

const test = { describe, it, beforeEach, afterEach };
describeStores(test, "in memory", async () => ({ ...memoryStores(), close: async () => {} }));
