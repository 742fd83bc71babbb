import { existsSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { inspectQueue, type QueueInspection } from "./inspect-queue.js";
import { type MigrationState, migrationState } from "./schema/migration-state.js";
import { OWN_DATABASE } from "./schema/table-names.js";
import type { Sql } from "./sql/database.js";
import { cannotOpenFile, missingFile } from "./sql/database-error.js";
import { SqliteConnection } from "./sqlite/sqlite-connection.js";

/** The state of a SQLite file of the service. */
type SqliteInspection = {
  readonly version: string;
  readonly migrations: MigrationState;
  /** `undefined` before the migrations have run. */
  readonly queue: QueueInspection | undefined;
};

const BUSY_MILLISECONDS = 1_000;

/** Reads the file, even while a service uses it, and changes nothing. Throws a `DatabaseError` if it cannot be used. */
export async function inspectSqlite(file: string): Promise<SqliteInspection> {
  if (!existsSync(file)) throw missingFile(file);
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MILLISECONDS });
    const connection = new SqliteConnection(database, OWN_DATABASE, () => database.close());
    try {
      const version = String(connection.first("select sqlite_version() as version", [])?.version);
      const migrations = migrationState(connection.recordedSteps());
      const sql: Sql = async (statement, parameters = []) => connection.all(statement, parameters);
      const isCurrent = migrations.kind === "current";
      return { version, migrations, queue: isCurrent ? await inspectQueue({ sql }) : undefined };
    } finally {
      connection.close();
    }
  } catch (error) {
    throw cannotOpenFile(file, error);
  }
}
