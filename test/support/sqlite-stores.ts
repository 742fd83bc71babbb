import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteDatabase } from "../../adapters/persistence/database/sqlite/open-sqlite-database.js";
import { sqlStores } from "./sql-stores.js";

/** A database without rows. Writing a copy takes a fraction of the time of migrating a new file. */
let template: Promise<Uint8Array> | undefined;

const migratedFile = async (): Promise<Uint8Array> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-sqlite-"));
  const file = join(folder, "panorama.sqlite");
  await (await openSqliteDatabase(file)).close();
  const bytes = await readFile(file);
  await rm(folder, { recursive: true });
  return bytes;
};

/** Every store on a new SQLite file, which `close` deletes. */
export const sqliteStores = async () => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-sqlite-"));
  const file = join(folder, "panorama.sqlite");
  template ??= migratedFile();
  await writeFile(file, await template);
  const database = await openSqliteDatabase(file);
  return {
    file,
    database,
    ...sqlStores(database),
    close: async () => {
      await database.close();
      await rm(folder, { recursive: true });
    },
  };
};
