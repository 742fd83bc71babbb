import { openPostgresDatabase } from "../../adapters/persistence/postgres-database.js";
import { sqlStores } from "./sql-stores.js";

const TABLES =
  "account, credit_order, api_key, key_spending, task, ledger_entry, idempotency_key, rate_limit, session, password_link, reference_image, reference_upload, task_reference, task_metadata, event, webhook_endpoint, webhook_delivery";

/** Every store on a PostgreSQL database, whose tables are emptied first: tests on one database must run one by one. */
export const postgresStores = async (url: string) => {
  const database = await openPostgresDatabase(url, 4);
  // The ledger's trigger refuses to truncate it, so it is disabled for this statement.
  await database.sql("alter table ledger_entry disable trigger all");
  await database.sql(`truncate ${TABLES}`);
  await database.sql("alter table ledger_entry enable trigger all");
  await database.sql("update task_queue set round = 1");
  return { database, ...sqlStores(database), close: () => database.close() };
};
