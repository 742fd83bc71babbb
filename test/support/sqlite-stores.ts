import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite-database.js";
import { sqlStores } from "./sql-stores.js";

/** Every store on a new SQLite file, which `close` deletes. */
export const sqliteStores = async () => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-sqlite-"));
  const file = join(folder, "panorama.sqlite");
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
