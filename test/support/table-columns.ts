import { DatabaseSync } from "@photostructure/sqlite";
import { migrationSteps } from "../../adapters/persistence/database/schema/migration-steps.js";

/** Of one database only (schema/tables/for-one-database.ts). */
const SEARCH = /^task_(search|words)/;

/** The columns of the tables that both databases have. Each table comes after those that it refers to. */
export const TABLE_COLUMNS: ReadonlyMap<string, readonly string[]> = (() => {
  const database = new DatabaseSync(":memory:");
  for (const { up } of migrationSteps) for (const statement of up.sqlite) database.exec(statement);
  const rows = (sql: string, ...values: string[]) => database.prepare(sql).all(...values) as { name: string }[];
  const tables = rows(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by rowid",
  );
  const columns = tables
    .filter(({ name }) => !SEARCH.test(name))
    .map(({ name }) => [name, rows("select name from pragma_table_info(?)", name).map((row) => row.name)] as const);
  database.close();
  return new Map(columns);
})();
