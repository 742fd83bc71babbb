import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migratePostgresDatabase } from "../../adapters/persistence/database/postgres/migrate-postgres.js";
import { openPostgresDatabase } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import { openSqliteDatabase } from "../../adapters/persistence/database/sqlite/open-sqlite-database.js";
import { PostgresServer } from "../support/postgres.js";
import type { AnyDatabase } from "../support/sql-stores.js";

export type OpenDatabase = { readonly database: AnyDatabase; readonly remove: () => Promise<void> };

/** A SQLite file, or a PostgreSQL server, for all cases. Its rows are deleted before each case. */
export const openDatabase = (dialect: "sqlite" | "postgresql"): Promise<OpenDatabase> =>
  dialect === "sqlite" ? openSqlite() : openPostgres();

/** Without this the ledger cannot be emptied on SQLite. */
export const allowDeletions = ({ sql }: AnyDatabase) => sql("drop trigger ledger_entry_no_delete");

const openSqlite = async (): Promise<OpenDatabase> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-faults-"));
  const database = await openSqliteDatabase(join(folder, "panorama.sqlite"));
  await allowDeletions(database);
  const remove = async () => {
    await database.close();
    await rm(folder, { recursive: true });
  };
  return { database, remove };
};

const openPostgres = async (): Promise<OpenDatabase> => {
  const server = await PostgresServer.start();
  await migratePostgresDatabase(server.url);
  const database = await openPostgresDatabase(server.url, 10);
  const remove = async () => {
    await database.close();
    await server.remove();
  };
  return { database, remove };
};
