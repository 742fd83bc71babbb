import type { Dialect, Sql } from "./database.js";

/** PostgreSQL's time when a row is read or written, in ms since 1970. `now()` would be the start of the transaction. */
const POSTGRES_TIME = "date_part('epoch', clock_timestamp()) * 1000";

/** SQLite reads the clock of its machine, once for each statement. In whole milliseconds since 1970. */
const SQLITE_TIME = "cast(round(unixepoch('subsec') * 1000) as integer)";

/** The time of the database when a row is read or written, in milliseconds since 1970. */
export const databaseTime = (dialect: Dialect): string => (dialect === "postgresql" ? POSTGRES_TIME : SQLITE_TIME);

/** The time of a PostgreSQL server, in milliseconds since 1970. */
export async function postgresTime(sql: Sql): Promise<number> {
  const [row] = await sql(`select ${POSTGRES_TIME} as milliseconds`);
  const milliseconds = row?.milliseconds;
  if (typeof milliseconds !== "number") throw new Error(`PostgreSQL's time is ${String(milliseconds)}.`);
  return milliseconds;
}
