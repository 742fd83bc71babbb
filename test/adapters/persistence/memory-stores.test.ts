import { describeAccountStore } from "../../support/contracts/account-store-contract.js";
import { describeTaskStore, type Stores } from "../../support/contracts/task-store-contract.js";
import { MemoryAccountStore } from "../../support/memory/memory-account-store.js";
import { MemoryDatabase } from "../../support/memory/memory-database.js";
import { MemoryTaskStore } from "../../support/memory/memory-task-store.js";

const memoryStores = async (): Promise<Stores> => {
  const database = new MemoryDatabase();
  return {
    tasks: new MemoryTaskStore(database),
    accounts: new MemoryAccountStore(database),
    close: async () => {},
  };
};

describeTaskStore("memory", memoryStores);
describeAccountStore("memory", memoryStores);
