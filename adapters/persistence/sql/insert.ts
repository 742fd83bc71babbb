import type { Row } from "./columns.js";
import type { Sql } from "./database.js";
import { insertion } from "./statement.js";

export const insert = async (sql: Sql, table: string, row: Row): Promise<void> => {
  const { text, parameters } = insertion(table, row);
  await sql(text, parameters);
};
