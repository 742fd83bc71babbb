import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migratePostgresDatabase } from "../../adapters/persistence/postgres/migrate-postgres.js";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { PostgresServer } from "../support/postgres.js";
import type { AnyDatabase } from "../support/sql-stores.js";

export type OpenDatabase = { readonly database: AnyDatabase; readonly remove: () => Promise<void> };

/** A SQLite file, and a PostgreSQL server, for all cases. Their rows are deleted before each case. */
export const openDatabase = async (dialect: "sqlite" | "postgresql"): Promise<OpenDatabase> => {
  const opened = dialect === "sqlite" ? await openSqlite() : await openPostgres();
  await allowDeletions(opened.database);
  return opened;
};

/** Without this the ledger cannot be emptied. */
export const allowDeletions = async ({ dialect, sql }: AnyDatabase): Promise<void> => {
  if (dialect === "sqlite") await sql("drop trigger ledger_entry_no_delete");
  else await sql("alter table ledger_entry disable trigger ledger_entry_no_change");
};

const openSqlite = async (): Promise<OpenDatabase> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-faults-"));
  const database = await openSqliteDatabase(join(folder, "panorama.sqlite"));
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
