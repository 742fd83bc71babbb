import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../adapters/persistence/database.js";
import { SqlAccountStore } from "../../adapters/persistence/sql-account-store.js";
import { SqlSessionStore } from "../../adapters/persistence/sql-session-store.js";
import { SqlTaskStore } from "../../adapters/persistence/sql-task-store.js";

/** Both stores over a new SQLite file, which `close` throws away. */
export const sqliteStores = async () => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-sqlite-"));
  const file = join(folder, "panorama.sqlite");
  const database = await openDatabase(file);
  return {
    file,
    database,
    tasks: new SqlTaskStore(database),
    accounts: new SqlAccountStore(database),
    sessions: new SqlSessionStore(database),
    close: async () => {
      await database.close();
      await rm(folder, { recursive: true });
    },
  };
};
