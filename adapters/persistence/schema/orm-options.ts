import type { MigrationObject } from "@mikro-orm/core";
import { Migration, Migrator } from "@mikro-orm/migrations";
import type { Dialect } from "../sql/database.js";
import { MIGRATION_TABLE, migrationSteps } from "./migration-steps.js";
import { tables } from "./schema.js";
import type { Step } from "./step.js";

/** Options of the ORM for the schema and the migrations of either dialect. */
export const ormOptions = (dialect: Dialect, steps: readonly Step[] = migrationSteps) => ({
  entities: tables,
  extensions: [Migrator],
  discovery: { disableDynamicFileAccess: true },
  forceUtcTimezone: true,
  migrations: {
    migrationsList: migrationsOf(dialect, steps),
    tableName: MIGRATION_TABLE,
    snapshot: false,
    disableForeignKeys: false,
    silent: true,
  },
});

/** Classes instead of files, so that the same steps run from the sources and from a build. */
const migrationsOf = (dialect: Dialect, steps: readonly Step[]): MigrationObject[] =>
  steps.map(({ name, up }) => ({
    name,
    class: class extends Migration {
      override up(): void {
        for (const statement of up[dialect]) this.addSql(statement);
      }
    },
  }));
