import type { Database } from "../../adapters/persistence/database.js";
import { SqlAccountStore } from "../../adapters/persistence/sql-account-store.js";
import { SqlApiKeyStore } from "../../adapters/persistence/sql-api-key-store.js";
import { SqlLedgerStore } from "../../adapters/persistence/sql-ledger-store.js";
import { SqlOrderStore } from "../../adapters/persistence/sql-order-store.js";
import { SqlSessionStore } from "../../adapters/persistence/sql-session-store.js";
import { SqlTaskStore } from "../../adapters/persistence/sql-task-store.js";

/** Every store, on one SQLite or PostgreSQL database. */
export const sqlStores = (database: Database) => ({
  accounts: new SqlAccountStore(database),
  orders: new SqlOrderStore(database),
  keys: new SqlApiKeyStore(database),
  ledger: new SqlLedgerStore(database),
  sessions: new SqlSessionStore(database),
  tasks: new SqlTaskStore(database),
});
