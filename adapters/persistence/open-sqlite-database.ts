import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseError } from "./database-error.js";
import { migrationSteps } from "./migration-steps.js";
import { openSqliteFile } from "./sqlite-connection.js";
import { hasRun, SqliteDatabase } from "./sqlite-database.js";

/** Opens the SQLite file, creates it if necessary and migrates its tables. Throws an error that names the file. */
export const openSqliteDatabase = async (file: string): Promise<SqliteDatabase> => {
  try {
    await mkdir(dirname(file), { recursive: true });
    // Loading the ORM takes longer than everything else at the start, and there is rarely anything to migrate.
    if (!isMigrated(file)) await (await import("./migrate-sqlite.js")).migrateSqlite(file);
    return new SqliteDatabase(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot open the database ${file}: ${reason}`, { cause: error });
  }
};

/** Opens a SQLite file that is there and up to date. Throws otherwise, and neither makes nor migrates anything. */
export const openExistingSqliteDatabase = async (file: string): Promise<SqliteDatabase> => {
  if (!existsSync(file)) {
    const advice = "Check DATA_DIR. panorama serve or panorama migrate makes a new database.";
    throw new DatabaseError("configuration", `There is no database ${file}. ${advice}`);
  }
  if (isMigrated(file)) return openSqliteDatabase(file);
  throw new DatabaseError("configuration", `The database ${file} is not up to date: run panorama migrate first.`);
};

const isMigrated = (file: string): boolean => {
  const connection = openSqliteFile(file);
  try {
    return hasRun(connection, migrationSteps);
  } finally {
    connection.close();
  }
};
