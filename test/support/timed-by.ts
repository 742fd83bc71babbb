import type { HandClock } from "../../adapters/memory/hand-clock.js";
import type { Database, Sql } from "../../adapters/persistence/database/sql/database.js";

type TimedDatabase = Pick<Database, "dialect" | "sql" | "transaction">;

/** A database with a clock set by hand, for statements that read it into a column `now`. */
export const timedBy = (clock: HandClock, database: TimedDatabase): TimedDatabase => {
  const timed = (sql: Sql): Sql => {
    return async (statement, parameters) =>
      (await sql(statement, parameters)).map((row) => ("now" in row ? { ...row, now: clock.now().getTime() } : row));
  };
  const { dialect, sql } = database;
  return { dialect, sql: timed(sql), transaction: (work) => database.transaction((sql) => work(timed(sql))) };
};
