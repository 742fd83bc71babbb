import type { Database } from "../database/sql/database.js";

/** `OperatorLog.deleteBefore`: of the first actions that have ended, because there is no index by time. */
export async function deleteOldActions({ sql }: Pick<Database, "sql">, at: Date, limit: number): Promise<number> {
  const deleted = await sql(
    `delete from operator_action where at < ? and id in
      (select id from operator_action where outcome is not null order by id limit ?) returning id`,
    [at, limit],
  );
  return deleted.length;
}
