import { type Step, statementsOf } from "./step.js";
import { ACCOUNTS } from "./tables/accounts.js";
import { CREDITS } from "./tables/credits.js";
import { FOR_ONE_DATABASE } from "./tables/for-one-database.js";
import { REFERENCES } from "./tables/references.js";
import { TASKS } from "./tables/tasks.js";
import { WEBHOOKS } from "./tables/webhooks.js";

/** Each after those that it refers to. */
const BASELINE = [ACCOUNTS, REFERENCES, TASKS, CREDITS, WEBHOOKS].join("\n");

/**
 * The baseline has all tables of 3.0.0. A change of the tables after that release is a new step behind it, in a file of
 * its own; a released step is never edited.
 */
export const migrationSteps: readonly Step[] = [
  {
    name: "001-baseline",
    up: {
      sqlite: [...statementsOf(BASELINE, "sqlite"), ...FOR_ONE_DATABASE.sqlite],
      postgresql: [...statementsOf(BASELINE, "postgresql"), ...FOR_ONE_DATABASE.postgresql],
    },
  },
];

/** The migrator records here which steps have run. */
export const MIGRATION_TABLE = "schema_migration";

/** PostgreSQL's advisory lock of whoever migrates. An arbitrary number, the same in every version. */
export const MIGRATION_LOCK = 727_274;

/** A row of `MIGRATION_TABLE`. */
export type RecordedStep = { readonly name?: unknown };

/** The steps that have not run yet. */
export function pendingSteps(rows: readonly RecordedStep[], steps: readonly Step[]): readonly Step[] {
  const done = new Set(rows.map(({ name }) => name));
  return steps.filter(({ name }) => !done.has(name));
}

/**
 * The recorded steps that this version does not know and that are not compatible: a later version has made them. Only
 * the author of a step can tell whether an earlier version works with it, and the name is all that an earlier version
 * sees.
 */
export function unknownSteps(rows: readonly RecordedStep[], known: readonly Step[]): readonly string[] {
  const names = new Set<unknown>(known.map(({ name }) => name));
  return rows.map(({ name }) => String(name)).filter((name) => !names.has(name) && !name.endsWith("-compatible"));
}

/** True if steps of a set of tables have run, but not its baseline: a version before 3.0.0 made the tables. */
export function isBeforeBaseline(rows: readonly RecordedStep[]): boolean {
  const names = rows.map(({ name }) => String(name));
  const [meter, panoramas] = [true, false].map((isMeter) =>
    names.filter((name) => name.startsWith("meter-") === isMeter),
  );
  const lacks = (set: readonly string[] | undefined, baseline: string) =>
    set !== undefined && set.length > 0 && !set.includes(baseline);
  return lacks(meter, "meter-001-baseline") || lacks(panoramas, "001-baseline");
}
