import pg from "pg";
import { migratePool } from "../schema/migrate.js";
import { migrationSteps } from "../schema/migration-steps.js";
import type { Step } from "../schema/step.js";
import { cannotConnect } from "../sql/database-error.js";

/**
 * Migrates the tables of the service's PostgreSQL database (schema/migrate.ts). Throws if a later version has migrated
 * it, or one before 3.0.0 has made it. `steps`: the steps of this version.
 */
export async function migratePostgresDatabase(url: string, steps: readonly Step[] = migrationSteps): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, application_name: "panorama", max: 1 });
  pool.on("error", () => {}); // a lost connection fails the statement in progress
  try {
    await pool.query("select 1").catch((error: unknown) => {
      throw cannotConnect(error);
    });
    await migratePool(pool, steps);
  } finally {
    await pool.end();
  }
}
