import type { Dialect, Sql } from "./database.js";
import type { Statement } from "./statement.js";

/**
 * Runs several writes. No statement may depend on what another one writes, and no two may write the same row. On
 * PostgreSQL they are sent as one statement, because locks are held during each round trip; PostgreSQL checks foreign
 * keys at its end.
 */
export async function writeInOneRoundTrip(sql: Sql, dialect: Dialect, statements: readonly Statement[]): Promise<void> {
  if (dialect === "sqlite") {
    for (const { text, parameters } of statements) await sql(text, parameters);
    return;
  }
  const parts = statements.map(({ text }, index) => `write_${index} as (${text})`);
  await sql(
    `with ${parts.join(", ")} select 1`,
    statements.flatMap(({ parameters }) => parameters),
  );
}

/**
 * On PostgreSQL: runs `check` and, if it returns a row, `writes`, all in one statement. `writes` insert from the table
 * expression `checked`. Returns whether they have written.
 */
export async function writeIfChecked(sql: Sql, check: Statement, writes: readonly Statement[]): Promise<boolean> {
  const parts = writes.map(({ text }, index) => `write_${index} as (${text})`);
  const rows = await sql(
    `with checked as (${check.text}), ${parts.join(", ")} select * from checked`,
    [check, ...writes].flatMap(({ parameters }) => parameters),
  );
  return rows.length > 0;
}
