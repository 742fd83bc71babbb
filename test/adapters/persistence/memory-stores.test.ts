import { describeStores } from "../../support/contracts/store-contracts.js";
import { MemorySessionStore } from "../../support/memory/memory-session-store.js";
import { memoryStores } from "../../support/memory/memory-stores.js";

describeStores("in memory", async () => ({
  ...memoryStores(),
  sessions: new MemorySessionStore(),
  close: async () => {},
}));
