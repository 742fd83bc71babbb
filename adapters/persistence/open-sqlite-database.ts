import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
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

const isMigrated = (file: string): boolean => {
  const connection = openSqliteFile(file);
  try {
    return hasRun(connection, migrationSteps);
  } finally {
    connection.close();
  }
};
