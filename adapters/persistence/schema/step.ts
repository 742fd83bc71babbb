import type { Dialect } from "../sql/database.js";

/**
 * One step of the migrations: its statements run in the same transaction as the record that it has run. If its name
 * ends in `-compatible`, versions that do not know it may start on the database (`unknownSteps` of migration-steps.ts).
 */
export type Step = { readonly name: string; readonly up: Readonly<Record<Dialect, readonly string[]>> };

/** The statements of a text. A semicolon at the end of a line ends each. */
export const statementsOf = (text: string): readonly string[] =>
  text
    .trim()
    .split(/;\n+|;$/)
    .filter(Boolean);
