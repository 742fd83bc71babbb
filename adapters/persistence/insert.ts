import type { Row } from "./columns.js";
import type { Sql } from "./database.js";

/** Inserts one row; the names of its columns come from this folder, never from outside. */
export const insert = async (sql: Sql, table: string, row: Row): Promise<void> => {
  const columns = Object.keys(row);
  const places = columns.map(() => "?").join(", ");
  await sql(`insert into ${table} (${columns.join(", ")}) values (${places})`, Object.values(row));
};
