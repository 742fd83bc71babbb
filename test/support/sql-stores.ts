import type { PostgresDatabase } from "../../adapters/persistence/postgres/postgres-database.js";
import type { sqlStores } from "../../adapters/persistence/sql-stores.js";
import type { SqliteDatabase } from "../../adapters/persistence/sqlite/sqlite-database.js";

export { sqlStores } from "../../adapters/persistence/sql-stores.js";

export type SqlStores = ReturnType<typeof sqlStores>;

export type AnyDatabase = SqliteDatabase | PostgresDatabase;
