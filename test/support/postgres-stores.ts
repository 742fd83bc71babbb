import { afterAll, beforeAll } from "vitest";
import { openPostgresDatabase } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import type { PostgresDatabase } from "../../adapters/persistence/database/postgres/postgres-database.js";
import { freshDatabase } from "./postgres.js";
import { sqlStores } from "./sql-stores.js";
import { TABLE_COLUMNS } from "./table-columns.js";

/** Stay filled: the row of the queue is reset, and secrets belong to the installation. */
const KEPT = ["task_queue", "installation_secret"];

/** The tables of both databases, those that refer to others first. */
export const TABLES = ["task_search", ...[...TABLE_COLUMNS.keys()].toReversed()].filter(
  (table) => !KEPT.includes(table),
);

/**
 * Deletes all rows: ten times as fast as `truncate`, which makes new files. As a replica, the session runs no triggers:
 * foreign keys require no order, and no trigger keeps the ledger.
 */
export const EMPTY_TABLES = `do $$ begin
  perform set_config('session_replication_role', 'replica', true);
  ${[...TABLES, "rate_limit"].map((table) => `delete from ${table};`).join("\n  ")}
  update task_queue set round = 1;
end $$`;

/** Every store on a PostgreSQL database, whose tables are emptied first: tests on one database must run one by one. */
export const postgresStores = async (url: string) => {
  const database = await openPostgresDatabase(url, 4);
  await database.sql(EMPTY_TABLES);
  return { database, ...sqlStores(database), close: () => database.close() };
};

/** The same on the connections of one database for a whole file: connecting takes longer than most tests. */
export const sharedPostgresStores = () => {
  let database: PostgresDatabase;
  beforeAll(async () => {
    database = await openPostgresDatabase(await freshDatabase(), 4);
  });
  afterAll(() => database.close());
  return async () => {
    await database.sql(EMPTY_TABLES);
    return { database, ...sqlStores(database), close: async () => {} };
  };
};
