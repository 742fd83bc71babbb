import { MikroORM } from "@mikro-orm/core";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { migrationState, refuseForeign } from "../schema/migration-state.js";
import { MIGRATION_LOCK, MIGRATION_TABLE, migrationSteps } from "../schema/migration-steps.js";
import { ormOptions } from "../schema/orm-options.js";
import { LOCK_MILLISECONDS, repeatWhileLocked } from "../schema/postgres-migration-lock.js";
import type { Step } from "../schema/step.js";
import { cannotConnect } from "../sql/database-error.js";

/**
 * Migrates the tables of a PostgreSQL database. Throws if a later version has migrated it, or one before 3.0.0 has
 * made it. Safe if several processes do it concurrently, and while instances work on the database: each migration is a
 * transaction of its own, and is repeated if it does not get a table at once. `steps`: the steps of this version.
 */
export const migratePostgresDatabase = async (url: string, steps: readonly Step[] = migrationSteps): Promise<void> => {
  const options = ormOptions("postgresql", steps);
  const orm = MikroORM.initSync({
    ...options,
    migrations: { ...options.migrations, allOrNothing: false },
    driver: PostgreSqlDriver,
    clientUrl: url,
    // One connection holds the lock, the other one migrates. A statement that has locked its table may take any time.
    pool: { min: 0, max: 2 },
    // The whole URL, because the ORM drops the parameters after its question mark, such as sslmode.
    driverOptions: {
      connection: {
        connectionString: url,
        application_name: "panorama",
        options: `-c lock_timeout=${LOCK_MILLISECONDS}`,
      },
      log: { warn: () => {} },
    },
  });
  try {
    const connection = orm.em.getDriver().getConnection();
    await connection.execute("select 1").catch((error: unknown) => {
      throw cannotConnect(error);
    });
    await connection.transactional(async (transaction) => {
      await connection.execute("set local lock_timeout = 0", [], "run", transaction);
      await connection.execute("select pg_advisory_xact_lock(?)", [MIGRATION_LOCK], "all", transaction);
      const all = (statement: string) => connection.execute<object[]>(statement, [], "all", transaction);
      const known = (await all(`select 1 where to_regclass('${MIGRATION_TABLE}') is not null`)).length > 0;
      refuseForeign("The database", migrationState(known ? await all(`select name from ${MIGRATION_TABLE}`) : []));
      await repeatWhileLocked(() => orm.getMigrator().up());
    });
  } finally {
    await orm.close(true);
  }
};
