import { describeAccountStore } from "../../support/contracts/account-store-contract.js";
import { describeSessionStore } from "../../support/contracts/session-store-contract.js";
import { describeTaskStore } from "../../support/contracts/task-store-contract.js";
import { MemoryAccountStore } from "../../support/memory/memory-account-store.js";
import { MemoryDatabase } from "../../support/memory/memory-database.js";
import { MemorySessionStore } from "../../support/memory/memory-session-store.js";
import { MemoryTaskStore } from "../../support/memory/memory-task-store.js";

const memoryStores = async () => {
  const database = new MemoryDatabase();
  return {
    tasks: new MemoryTaskStore(database),
    accounts: new MemoryAccountStore(database),
    sessions: new MemorySessionStore(),
    close: async () => {},
  };
};

describeTaskStore("memory", memoryStores);
describeAccountStore("memory", memoryStores);
describeSessionStore("memory", memoryStores);
