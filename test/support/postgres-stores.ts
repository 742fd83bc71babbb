import { openPostgresDatabase } from "../../adapters/persistence/postgres-database.js";
import { SqlAccountStore } from "../../adapters/persistence/sql-account-store.js";
import { SqlSessionStore } from "../../adapters/persistence/sql-session-store.js";
import { SqlTaskStore } from "../../adapters/persistence/sql-task-store.js";

const TABLES = "account, credit_order, api_key, task, ledger_entry, idempotency_key, rate_limit, session";

/** Both stores over a PostgreSQL database, which is emptied first: one test at a time. */
export const postgresStores = async (url: string) => {
  const database = await openPostgresDatabase(url, 4);
  // The ledger refuses to be emptied, unless its triggers are told that this is a replica.
  await database.sql("alter table ledger_entry disable trigger all");
  await database.sql(`truncate ${TABLES}`);
  await database.sql("alter table ledger_entry enable trigger all");
  await database.sql("update task_queue set round = 1");
  return {
    database,
    tasks: new SqlTaskStore(database),
    accounts: new SqlAccountStore(database),
    sessions: new SqlSessionStore(database),
    close: () => database.close(),
  };
};
