import { type Constructor, MikroORM } from "@mikro-orm/core";
import type { AbstractSqlDriver } from "@mikro-orm/knex";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { MIGRATION_LOCK } from "./migration-steps.js";
import { ormOptions } from "./orm-options.js";

/** Migrates the tables of a PostgreSQL database. Safe if several processes do it concurrently. */
export const migratePostgresDatabase = async (url: string): Promise<void> => {
  const orm = await MikroORM.init<AbstractSqlDriver>({
    ...ormOptions("postgresql"),
    driver: PostgreSqlDriver as unknown as Constructor<AbstractSqlDriver>,
    clientUrl: url,
    connect: false, // the first statement connects, and throws errors instead of printing them
    // One connection holds the lock, the other one migrates. There are no timeouts, because a migration may take long.
    pool: { min: 0, max: 2 },
    // The whole URL, because the ORM drops the parameters after its question mark, such as sslmode.
    driverOptions: { connection: { connectionString: url, application_name: "panorama" }, log: { warn: () => {} } },
  });
  try {
    const connection = orm.em.getDriver().getConnection();
    await connection.execute("select 1").catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`PostgreSQL cannot be reached: ${reason}`, { cause: error });
    });
    await connection.transactional(async (transaction) => {
      await connection.execute("select pg_advisory_xact_lock(?)", [MIGRATION_LOCK], "all", transaction);
      await orm.getMigrator().up();
    });
  } finally {
    await orm.close(true);
  }
};
