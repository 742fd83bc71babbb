import { existsSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import type { Retained, Retention } from "../../domain/retention.js";
import { cannotOpenFile, missingFile } from "./database-error.js";
import { type MigrationState, migrationState } from "./migration-state.js";
import { toRetentions } from "./sql-retention-store.js";
import { SqliteConnection } from "./sqlite-connection.js";
import { recordedSteps } from "./sqlite-database.js";
import { OWN_DATABASE } from "./table-names.js";

/** What there is to know about a SQLite file of the service. */
export type SqliteInspection = {
  readonly version: string;
  readonly migrations: MigrationState;
  /** None before the migrations have run. */
  readonly retentions: ReadonlyMap<Retained, Retention>;
};

const BUSY_MILLISECONDS = 1_000;

/** Looks at the file, also while a service uses it, and changes nothing. Throws a `DatabaseError` if it cannot be used. */
export const inspectSqlite = async (file: string): Promise<SqliteInspection> => {
  if (!existsSync(file)) throw missingFile(file);
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MILLISECONDS });
    const connection = new SqliteConnection(database, OWN_DATABASE, () => database.close());
    try {
      const version = String(connection.first("select sqlite_version() as version", [])?.version);
      const migrations = migrationState(recordedSteps(connection));
      const rows = migrations.kind === "current" ? connection.all("select * from retention", []) : [];
      return { version, migrations, retentions: toRetentions(rows) };
    } finally {
      connection.close();
    }
  } catch (error) {
    throw cannotOpenFile(file, error);
  }
};
