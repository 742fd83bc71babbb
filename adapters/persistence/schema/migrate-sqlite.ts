import { setTimeout } from "node:timers/promises";
import { type Constructor, MikroORM } from "@mikro-orm/core";
import type { AbstractSqlDriver } from "@mikro-orm/knex";
import { ormOptions } from "./orm-options.js";
import { SqliteOrmDriver } from "./sqlite-orm-driver.js";

/**
 * Several processes may start on one empty SQLite file at the same time. The migrator reads before it writes, so all
 * processes but one fail at once with SQLITE_BUSY. They retry and then find the tables migrated.
 */
const ATTEMPTS = 100;
const PAUSE_MILLISECONDS = 100;

/** Migrates the tables of the SQLite file to this version. Safe if several processes do it concurrently. */
export const migrateSqlite = async (file: string): Promise<void> => {
  const orm = await MikroORM.init<AbstractSqlDriver>({
    ...ormOptions("sqlite"),
    driver: SqliteOrmDriver as unknown as Constructor<AbstractSqlDriver>,
    dbName: file,
  });
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await orm.getMigrator().up();
        return;
      } catch (error) {
        if (attempt === ATTEMPTS || !isBusy(error)) throw error;
        await setTimeout(PAUSE_MILLISECONDS);
      }
    }
  } finally {
    await orm.close(true);
  }
};

/** `already exists`: another process has just created the table of migrations. */
const isBusy = (error: unknown): boolean =>
  error instanceof Error && /database is locked|SQLITE_BUSY|already exists/i.test(error.message);
