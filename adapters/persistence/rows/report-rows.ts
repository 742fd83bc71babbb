import type { ReportOutcome } from "../../../domain/tasks/report.js";
import { OPEN_REPORT } from "../schema/indexed-conditions.js";
import type { Dialect, Sql } from "../sql/database.js";
import { isAmong, listOf } from "../sql/dialect-sql.js";

/** Ends the open reports of these tasks, and erases what their senders wrote. Returns how many there were. */
export const endReports = async (
  sql: Sql,
  dialect: Dialect,
  taskIds: readonly unknown[],
  { outcome, at }: { readonly outcome: ReportOutcome; readonly at: Date },
): Promise<number> => {
  const ended = await sql(
    `update report set ended_at = ?, outcome = ?, text = null
    where ${isAmong("task_id", dialect)} and ${OPEN_REPORT} returning network`,
    [at, outcome, listOf(taskIds, dialect)],
  );
  return ended.length;
};
