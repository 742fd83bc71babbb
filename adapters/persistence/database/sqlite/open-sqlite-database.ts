import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type MigrationState, migrationState, refuseOther, requireCurrent } from "../schema/migration-state.js";
import { cannotOpenFile, DatabaseError, missingFile } from "../sql/database-error.js";
import { migrateSqlite, openSqliteFile, sqliteFile } from "./open-sqlite-file.js";
import { SqliteDatabase } from "./sqlite-database.js";

/**
 * Opens the SQLite file, creates it if necessary and migrates its tables. Throws an error that names the file, also if
 * a later version has migrated it.
 */
export async function openSqliteDatabase(file: string): Promise<SqliteDatabase> {
  try {
    await mkdir(dirname(file), { recursive: true });
    const state = stateOf(file);
    refuseOther(nameOf(file), state);
    if (state.kind === "pending") await migrateSqlite(file);
    return new SqliteDatabase(sqliteFile(file));
  } catch (error) {
    throw error instanceof DatabaseError ? error : cannotOpenFile(file, error);
  }
}

/** Opens a SQLite file that is there and up to date. Throws otherwise, and neither makes nor migrates anything. */
export async function openExistingSqliteDatabase(file: string): Promise<SqliteDatabase> {
  if (!existsSync(file)) throw missingFile(file);
  requireCurrent(nameOf(file), stateOf(file));
  return openSqliteDatabase(file);
}

const nameOf = (file: string): string => `The database ${file}`;

function stateOf(file: string): MigrationState {
  const connection = openSqliteFile(file);
  try {
    return migrationState(connection.recordedSteps());
  } finally {
    connection.close();
  }
}
