import { describeStores } from "../../support/contracts/store-contracts.js";
import { memoryStores } from "../../support/memory/memory-stores.js";

describeStores("in memory", async () => ({ ...memoryStores(), close: async () => {} }));
