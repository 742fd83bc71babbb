import type { PostgresDatabase } from "../../adapters/persistence/postgres/postgres-database.js";
import type { SqliteDatabase } from "../../adapters/persistence/sqlite/sqlite-database.js";

export { sqlStores } from "../../adapters/persistence/sql-stores.js";

export type AnyDatabase = SqliteDatabase | PostgresDatabase;
