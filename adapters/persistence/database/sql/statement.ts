import type { Row, Sql } from "./database.js";

export type Statement = { readonly text: string; readonly parameters: readonly unknown[] };

/*
 * Table and column names become part of the statement's text: they come from this folder, never from a request.
 */

/** Inserts one row. With `source`, the name of a table expression: once for each row of it. */
export function insertion(table: string, row: Row, source?: string): Statement {
  const columns = Object.keys(row);
  const placeholders = columns.map(() => "?").join(", ");
  const values = source === undefined ? `values (${placeholders})` : `select ${placeholders} from ${source}`;
  return {
    text: `insert into ${table} (${columns.join(", ")}) ${values}`,
    parameters: Object.values(row),
  };
}

export async function insert(sql: Sql, table: string, row: Row): Promise<void> {
  const { text, parameters } = insertion(table, row);
  await sql(text, parameters);
}

/** Sets the columns of `changes`, and what `assignment` says, in every row that equals `conditions`. */
export const update = (table: string, changes: Row, conditions: Row, assignment?: Statement): Statement => ({
  text: `update ${table} set ${[...equations(changes), ...(assignment ? [assignment.text] : [])].join(", ")}
    where ${equations(conditions).join(" and ")}`,
  parameters: [...Object.values(changes), ...(assignment?.parameters ?? []), ...Object.values(conditions)],
});

/** Narrows a list that is ordered by the column `id`, newest first, to rows older than `before`. */
export const olderThan = (before: unknown, id = "id"): Statement =>
  before === undefined ? { text: "", parameters: [] } : { text: `and ${id} < ?`, parameters: [before] };

/** Narrows a list that is ordered by the column `id`, oldest first, to rows newer than `after`. */
export const newerThan = (after: unknown, id = "id"): Statement =>
  after === undefined ? { text: "", parameters: [] } : { text: `and ${id} > ?`, parameters: [after] };

/** Narrows a list by conditions such as `{ "created_at >=": from }`, without those that are undefined. */
export function narrowedTo(wanted: Row): Statement {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const text = given.map(([condition]) => `and ${condition} ?`).join(" ");
  return { text, parameters: given.map(([, value]) => value) };
}

const equations = (columns: Row): string[] => Object.keys(columns).map((column) => `${column} = ?`);

/** The longest statement of a request, which counts a creation for key and account, has about 2,600. */
const PREPARED_CHARACTERS_MAX = 4_000;

/** True if the statement is kept prepared. Statements with a variable number of rows are long and rarely repeat. */
export const isWorthPreparing = (statement: string): boolean => statement.length <= PREPARED_CHARACTERS_MAX;
