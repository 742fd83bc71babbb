import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { err, ok, type Result } from "neverthrow";
import { backupSqlite, objectNamesInBackup } from "../adapters/persistence/backup-sqlite.js";
import { type CopiedObjects, copyObjects } from "../adapters/storage/copy-objects.js";
import { syncFolder } from "../adapters/system/files.js";

/** The maximum number of copies of the database. */
const ROUNDS_MAX = 4;
/** Longer than a deletion takes from its first object to its row. */
const PAUSE_MILLISECONDS = 500;

/**
 * Copies the SQLite file and the objects to the new folder `target`, which has the layout of DATA_DIR, while the
 * service runs. Every object that the copied database names is in the copy, unless the storage itself lacks it.
 *
 * The database is copied first: an object is stored before its row says so, and never changes, so each object that this
 * copy names was in the storage at that moment. Objects that are deleted before they are copied are missing then, so
 * the database is copied again: it no longer names them, and those that it names in addition are few and quickly
 * copied. A deletion by the owner deletes the objects before its row; after a pause its row is written, too.
 */
export const backupWithObjects = async (
  { file, objects }: { readonly file: string; readonly objects: string },
  target: string,
  pause: () => Promise<void> = () => setTimeout(PAUSE_MILLISECONDS),
): Promise<Result<CopiedObjects, string>> => {
  if (existsSync(target)) return err(`${target} exists already. Choose another name, or delete it first.`);
  const folder = `${target}.temporary`;
  const database = join(folder, "panorama.sqlite");
  try {
    await rm(folder, { recursive: true, force: true }); // of a backup that was interrupted
    await mkdir(folder);
    for (let round = 1; ; round += 1) {
      const made = await backupSqlite(file, database);
      if (made.isErr()) return err(made.error);
      const copied = await copyObjects(objects, join(folder, "objects"), objectNamesInBackup(database));
      if (copied.missing.length === 0 || round === ROUNDS_MAX) {
        await syncFolder(folder);
        await rename(folder, target);
        await syncFolder(dirname(target));
        return ok(copied);
      }
      await pause();
      await rm(database);
    }
  } catch (error) {
    return err(`${target} could not be written: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
};
