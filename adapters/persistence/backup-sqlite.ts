import { existsSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { err, ok, type Result } from "neverthrow";
import type { ObjectName } from "../../domain/images/object-name.js";
import { syncFolder } from "../system/files.js";
import type { SqliteValue } from "./database/schema/installation.js";
import { objectNames } from "./tasks/object-names.js";

/**
 * Copies a SQLite file to `target` as of one moment, also while a service writes to it, and without waiting for it. The
 * copy is one file. Under its name it is complete or absent. The error is one line.
 */
export async function backupSqlite(file: string, target: string): Promise<Result<void, string>> {
  if (!existsSync(file)) return err(`There is no database ${file}.`);
  if (existsSync(target)) return err(`${target} exists already. Choose another name, or delete it first.`);
  const temporary = `${target}.temporary`;
  try {
    await rm(temporary, { force: true }); // of a backup that was interrupted
    // Not SqliteConnection: a backup changes nothing in the file, and also works before the file is migrated.
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      database.prepare("vacuum into ?").run(temporary);
    } finally {
      database.close();
    }
    const written = await open(temporary, "r+");
    await written.sync().finally(() => written.close());
    await rename(temporary, target);
    await syncFolder(dirname(target));
    return ok(undefined);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    return err(`${target} could not be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The names of the objects that must be in the storage, by this SQLite file (`objectNames`). */
export async function* objectNamesInBackup(file: string): AsyncGenerator<readonly ObjectName[]> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    yield* objectNames(async (statement, parameters = []) =>
      database.prepare(statement).all(...(parameters as SqliteValue[])),
    );
  } finally {
    database.close();
  }
}
