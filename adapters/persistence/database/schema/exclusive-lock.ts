import { DatabaseSync } from "@photostructure/sqlite";
import { cannotOpenFile } from "../sql/database-error.js";

/** Two processes that start at the same moment may each see the other's attempt first: then one of them tries again. */
const BUSY_MILLISECONDS = 1_000;

export type ExclusiveLock = { release(): void };

/**
 * Locks the file, which it creates if necessary, or returns `undefined` if another process holds the lock. It is the
 * lock of a SQLite transaction that never ends, so the operating system releases it when the process ends, even by
 * `kill -9`: it is never stale. Nothing is written to the file, and its existence means nothing.
 */
export function lockExclusively(file: string): ExclusiveLock | undefined {
  const database = new DatabaseSync(file, { timeout: BUSY_MILLISECONDS });
  try {
    database.exec("begin exclusive");
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && /database is locked/i.test(error.message)) return undefined;
    throw cannotOpenFile(file, error);
  }
}
