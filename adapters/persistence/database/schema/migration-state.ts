import { DatabaseError } from "../sql/database-error.js";
import { isBeforeBaseline, migrationSteps, pendingSteps, type RecordedStep, unknownSteps } from "./migration-steps.js";
import { STEPS } from "./table-sets.js";

/** Result of comparing the tables of a database with this version. */
export type MigrationState =
  | { readonly kind: "current" }
  /** Migrations of this version have not run. */
  | { readonly kind: "pending"; readonly steps: readonly string[] }
  /** A version before 3.0.0 has made the tables. */
  | { readonly kind: "earlier" }
  /** Migrations have run that this version does not know. */
  | { readonly kind: "ahead"; readonly steps: readonly string[] };

/** `rows`: of the table that records the migrations; none if it does not exist. */
export function migrationState(rows: readonly RecordedStep[]): MigrationState {
  if (isBeforeBaseline(rows)) return { kind: "earlier" };
  const unknown = unknownSteps(rows, Object.values(STEPS).flat());
  if (unknown.length > 0) return { kind: "ahead", steps: unknown };
  const pending = pendingSteps(rows, migrationSteps).map(({ name }) => name);
  return pending.length > 0 ? { kind: "pending", steps: pending } : { kind: "current" };
}

/** Throws if this version cannot migrate the database. `database`: its name in the sentence. */
export function refuseOther(database: string, state: MigrationState): void {
  if (state.kind === "ahead" || state.kind === "earlier") {
    throw new DatabaseError("configuration", migrationProblem(database, state));
  }
}

/** Throws if this version cannot work with the database as it is. `database`: its name in the sentence. */
export function requireCurrent(database: string, state: MigrationState): void {
  if (state.kind !== "current") throw new DatabaseError("configuration", migrationProblem(database, state));
}

/** The problem, and its solution. */
export const migrationProblem = (database: string, state: Exclude<MigrationState, { kind: "current" }>): string => {
  switch (state.kind) {
    case "pending":
      return `${database} is not up to date: run panorama migrate first.`;
    case "earlier":
      return (
        `${database} was made by a version before 3.0.0, which this version cannot migrate. Start this version with an ` +
        "empty database, and move each account: its balance is in panorama ledger show of the version before, and " +
        "panorama account create --email EMAIL --credits N makes it here."
      );
    case "ahead":
      return (
        `${database} is ahead of this version: a later one has run the migration ${state.steps.join(", ")}. Start the ` +
        "later version, or restore a backup from before it. Instances of this version that run already may go on until " +
        "they are replaced."
      );
  }
};
