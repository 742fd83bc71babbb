import type { Row } from "./columns.js";
import type { Sql } from "./database.js";
import type { Dialect } from "./migrations.js";

export type Statement = { readonly text: string; readonly parameters: readonly unknown[] };

/** Inserts one row; the names of its columns come from this folder, never from outside. */
export const insertion = (table: string, row: Row): Statement => {
  const columns = Object.keys(row);
  const places = columns.map(() => "?").join(", ");
  return { text: `insert into ${table} (${columns.join(", ")}) values (${places})`, parameters: Object.values(row) };
};

/**
 * Writes several rows, of which none may depend on what another statement writes. On PostgreSQL, where each round trip
 * is paid with a lock held, all of it is one statement; foreign keys are checked at its end.
 */
export const writeInOneRoundTrip = async (
  sql: Sql,
  dialect: Dialect,
  statements: readonly Statement[],
): Promise<void> => {
  if (dialect === "sqlite") {
    for (const { text, parameters } of statements) await sql(text, parameters);
    return;
  }
  const parts = statements.map(({ text }, index) => `write_${index} as (${text})`);
  await sql(
    `with ${parts.join(", ")} select 1`,
    statements.flatMap(({ parameters }) => parameters),
  );
};
