import type { JoiningMeterStore } from "../../../application/ports/stores/meter-store.js";
import type { SqliteHandle } from "../database/schema/installation.js";
import { METER_STEPS } from "../database/schema/meter-steps.js";
import { migrate } from "../database/schema/migrate.js";
import { databaseOnConnection, joinedOnConnection } from "../database/sqlite/sqlite-on-connection.js";
import { SqlMeterStore } from "./sql-meter-store.js";

/** Location of the tables of a meter. */
export type SqliteMeterOptions = {
  /** The prefix of the names of tables and indexes, such as `meter_`. Without it, they have none. */
  readonly prefix?: string | undefined;
  /** `false`: the tables are there already, made from `migrationTexts`. Otherwise they are created and updated. */
  readonly migrate?: boolean | undefined;
};

/**
 * The store of a meter in SQLite, on a `DatabaseSync` of `node:sqlite` or `@photostructure/sqlite` that its caller
 * configures and closes. Processes on one machine may share the file. Throws if the tables are not up to date.
 */
export async function sqliteMeterStore(
  connection: SqliteHandle,
  { prefix, migrate: mayMigrate = true }: SqliteMeterOptions = {},
): Promise<JoiningMeterStore<SqliteHandle>> {
  const installation = { sqlite: connection, prefix, tables: ["meter"] } as const;
  if (mayMigrate) await migrate(installation);
  const database = databaseOnConnection(installation);
  if (!database.isMigrated(METER_STEPS)) throw new Error("The tables of the meter are not up to date.");
  return Object.assign(new SqlMeterStore(database), {
    within: (open: SqliteHandle) => new SqlMeterStore(joinedOnConnection({ ...installation, sqlite: open })),
  });
}
