import { setTimeout } from "node:timers/promises";
import { MikroORM } from "@mikro-orm/core";
import { migrationSteps } from "../schema/migration-steps.js";
import { ormOptions } from "../schema/orm-options.js";
import type { Step } from "../schema/step.js";
import { SqliteOrmDriver } from "./sqlite-orm-driver.js";

/**
 * Several processes may start on one empty SQLite file at the same time. The migrator reads before it writes, so all
 * processes but one fail at once with SQLITE_BUSY. They retry and then find the tables migrated.
 */
const ATTEMPTS = 100;
const PAUSE_MILLISECONDS = 100;

/**
 * Migrates the tables of the SQLite file. Safe if several processes do it concurrently. `steps`: those of this version.
 */
export const migrateSqlite = async (file: string, steps: readonly Step[] = migrationSteps): Promise<void> => {
  const orm = MikroORM.initSync({ ...ormOptions("sqlite", steps), driver: SqliteOrmDriver, dbName: file });
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
