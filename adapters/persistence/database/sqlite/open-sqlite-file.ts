import { DatabaseSync } from "@photostructure/sqlite";
import { migrateHandle } from "../schema/migrate.js";
import { migrationSteps } from "../schema/migration-steps.js";
import type { Step } from "../schema/step.js";
import { OWN_DATABASE } from "../schema/table-names.js";
import { SqliteConnection } from "./sqlite-connection.js";

/** A file that this process opens itself. A connection has a cache of 32 MiB, or of `cacheKibibytes`. */
export type SqliteFile = {
  readonly path: string;
  open(cacheKibibytes?: number): SqliteConnection;
  /**
   * Opens the connection for writes. Its statements do not wait for other processes. Its commits do not wait for the
   * disk and never move the write-ahead log into the file.
   */
  openWriter(): SqliteConnection;
};

/** Maximum time for which a statement blocks the process while the file is locked, as when it is opened. */
const BUSY_MILLISECONDS = 10_000;

/** Pages kept in memory; SQLite's own 2 MiB hold the tasks of a few thousand customers only. Used as far as needed. */
const CACHE_KIBIBYTES = 32 * 1024;

/** Opens a file of the service, with the service's settings. */
export function openSqliteFile(file: string, cacheKibibytes = CACHE_KIBIBYTES): SqliteConnection {
  const database = openFile(file, cacheKibibytes);
  return new SqliteConnection(database, OWN_DATABASE, () => database.close());
}

/** Migrates the tables of the SQLite file (schema/migrate.ts). `steps`: the steps of this version. */
export async function migrateSqlite(file: string, steps: readonly Step[] = migrationSteps): Promise<void> {
  const database = openFile(file, CACHE_KIBIBYTES);
  try {
    await migrateHandle(database, steps);
  } finally {
    database.close();
  }
}

/** A file of the service, for `SqliteDatabase`. */
export const sqliteFile = (path: string): SqliteFile => ({
  path,
  open: (cacheKibibytes) => openSqliteFile(path, cacheKibibytes),
  openWriter: () => {
    const database = openFile(path, CACHE_KIBIBYTES);
    database.exec("pragma busy_timeout = 0"); // `begin` waits instead, without blocking the event loop
    database.exec("pragma synchronous = normal; pragma wal_autocheckpoint = 0"); // SqliteDatabase does both
    return new SqliteConnection(database, OWN_DATABASE, () => database.close());
  },
});

function openFile(file: string, cacheKibibytes: number): InstanceType<typeof DatabaseSync> {
  const database = new DatabaseSync(file, { timeout: BUSY_MILLISECONDS });
  // Full: data is on the disk before a customer receives the response, so that it survives a power failure.
  database.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");
  database.exec(`pragma cache_size = -${cacheKibibytes}`);
  return database;
}
