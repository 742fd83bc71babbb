import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import {
  type NewReport,
  OPEN_REPORTS_MAX,
  type ReportedTask,
  type ReportStore,
} from "../../../application/ports/stores/report-store.js";
import type { TaskId } from "../../../domain/task-id.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Reports in memory. */
export class MemoryReportStore implements ReportStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async file(report: NewReport): Promise<void> {
    const { reports, tasks } = this.database;
    const isKnown = reports.some(({ taskId, network }) => taskId === report.taskId && network === report.network);
    const open = this.openOf(report.taskId).length;
    const stored = tasks.get(report.taskId);
    const isPublic = stored?.task.request.visibility === "public" && !stored.hidden;
    if (!isKnown && isPublic && open < OPEN_REPORTS_MAX) reports.push(report);
  }

  async open(limit: number, shown: number): Promise<ReportedTask[]> {
    return [...this.database.tasks.values()]
      .filter(({ hidden }) => !hidden)
      .map(({ task }) => ({ task, all: this.openOf(task.id) }))
      .filter(({ all }) => all.length > 0)
      .sort((a, b) => Number(a.all[0]?.at) - Number(b.all[0]?.at) || (a.task.id < b.task.id ? -1 : 1))
      .slice(0, limit)
      .map(({ task, all }) => ({
        task,
        total: all.length,
        reports: all.slice(0, shown).map(({ reason, text, at }) => ({ reason, text, at })),
      }));
  }

  async dismiss(id: TaskId): Promise<Result<void, NotFound>> {
    const ended = this.database.endReports(id, "dismissed");
    return ended > 0 ? ok(undefined) : err(notFound(`There is no open report of the panorama ${id}.`));
  }

  private openOf(id: TaskId) {
    return this.database.reports
      .filter(({ taskId, outcome }) => taskId === id && outcome === undefined)
      .sort((a, b) => a.at.getTime() - b.at.getTime());
  }
}
