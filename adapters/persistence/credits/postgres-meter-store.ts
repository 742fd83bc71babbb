import type { JoiningMeterStore } from "../../../application/ports/stores/meter-store.js";
import { databaseInPool } from "../database/postgres/postgres-database.js";
import type { PoolClient, PostgresPool } from "../database/schema/installation.js";
import { METER_STEPS } from "../database/schema/meter-steps.js";
import { migrate } from "../database/schema/migrate.js";
import { SqlMeterStore } from "./sql-meter-store.js";

/** Location of the tables of a meter. */
export type PostgresMeterOptions = {
  /** Lower-case letters, digits and `_`. Without it, the first schema of the connections' `search_path`. */
  readonly schema?: string | undefined;
  /** `false`: the tables are there already, made from `migrationTexts`. Otherwise they are created and updated. */
  readonly migrate?: boolean | undefined;
};

/** A connection of `pg`, with an open transaction. */
export type PostgresConnection = Pick<PoolClient, "query">;

/**
 * The store of a meter in PostgreSQL, on a `Pool` of `pg` 8 that its caller configures and closes. Processes may share
 * it: each call is one short transaction, which locks its account, and the database's time decides. Throws if the
 * database cannot be reached or the tables are not up to date.
 */
export async function postgresMeterStore(
  pool: PostgresPool,
  { schema, migrate: mayMigrate = true }: PostgresMeterOptions = {},
): Promise<JoiningMeterStore<PostgresConnection>> {
  const installation = { pool, schema, tables: ["meter"] } as const;
  if (mayMigrate) await migrate(installation);
  const database = await databaseInPool(installation);
  if (!(await database.isMigrated(METER_STEPS))) throw new Error("The tables of the meter are not up to date.");
  return Object.assign(new SqlMeterStore(database), {
    within: (connection: PostgresConnection) => new SqlMeterStore(database.joined(connection)),
  });
}
