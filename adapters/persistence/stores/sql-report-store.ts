import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import {
  type NewReport,
  OPEN_REPORTS_MAX,
  type ReportedTask,
  type ReportStore,
} from "../../../application/ports/stores/report-store.js";
import type { TaskId } from "../../../domain/task-id.js";
import { REPORT_REASONS } from "../../../domain/tasks/report.js";
import { endReports } from "../rows/report-rows.js";
import { OPEN_REPORT } from "../schema/indexed-conditions.js";
import { date, integer, oneOf, optional, text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";
import { toTask } from "../tasks/task-rows.js";
import { SqlInstallationSecrets } from "./sql-installation-secrets.js";

const KEY_NAME = "report-networks";

/** Reports in SQLite or PostgreSQL. */
export class SqlReportStore implements ReportStore {
  private readonly database: Database;
  private readonly secrets: SqlInstallationSecrets;

  constructor(database: Database) {
    this.database = database;
    this.secrets = new SqlInstallationSecrets(database);
  }

  async file({ taskId, network, reason, text: words, at }: NewReport): Promise<void> {
    const digest = await this.secrets.digest(KEY_NAME, network);
    // The lock keeps out a takedown that is not committed: it would not end this report. SQLite has one writer.
    const lock = this.database.dialect === "postgresql" ? "for share" : "";
    await this.database.sql(
      `insert into report (task_id, network, reason, text, reported_at)
      select id, ?, ?, ?, cast(? as timestamptz) from task where id = ? and visibility = 'public' and hidden_at is null
      and (select count(*) from report where task_id = task.id and ${OPEN_REPORT}) < ? ${lock}
      on conflict (task_id, network) do nothing`,
      [digest, reason, words ?? null, at, taskId, OPEN_REPORTS_MAX],
    );
  }

  async open(limit: number, shown: number): Promise<ReportedTask[]> {
    const { sql } = this.database;
    const rows = await sql(
      `select task.*, waiting.total from (
        select task_id, cast(count(*) as integer) as total, min(reported_at) as since from report
        where ${OPEN_REPORT} group by task_id
      ) as waiting join task on task.id = waiting.task_id
      where task.hidden_at is null order by waiting.since, task.id limit ?`,
      [limit],
    );
    return Promise.all(
      rows.map(async (row) => {
        const reports = await sql(
          `select * from report where task_id = ? and ${OPEN_REPORT} order by reported_at, network limit ?`,
          [row.id, shown],
        );
        return {
          task: toTask(row),
          total: integer(row, "total"),
          reports: reports.map((report) => ({
            reason: oneOf(report, "reason", REPORT_REASONS),
            text: optional(report, "text", text),
            at: date(report, "reported_at"),
          })),
        };
      }),
    );
  }

  dismiss(id: TaskId, at: Date): Promise<Result<void, NotFound>> {
    const { database } = this;
    return database.transaction(async (sql) => {
      const ended = await endReports(sql, database.dialect, [id], { outcome: "dismissed", at });
      return ended > 0 ? ok(undefined) : err(notFound(`There is no open report of the panorama ${id}.`));
    });
  }
}
