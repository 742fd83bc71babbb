import type { Tables } from "./installation.js";
import { METER_STEPS } from "./meter-steps.js";
import { MIGRATION_TABLE, migrationSteps } from "./migration-steps.js";
import type { Step } from "./step.js";

/** The migrations of each set of tables. */
export const STEPS: Readonly<Record<Tables, readonly Step[]>> = { panoramas: migrationSteps, meter: METER_STEPS };

/** The steps of several sets of tables, in the order in which they run. */
export const stepsOf = (tables: readonly Tables[]): readonly Step[] => tables.flatMap((set) => STEPS[set]);

function created(statement: string): string[] {
  const [, name] = /^create (?:unlogged |virtual )?table (\w+)/.exec(statement) ?? [];
  return name === undefined ? [] : [name];
}

/** Every table that a step creates, and the one that records the steps. */
export const TABLES: ReadonlySet<string> = new Set([
  MIGRATION_TABLE,
  ...Object.values(STEPS).flatMap((steps) =>
    steps.flatMap(({ up }) => [...up.sqlite, ...up.postgresql].flatMap(created)),
  ),
]);
