import type { Result } from "neverthrow";
import type { TaskId } from "../../../domain/task-id.js";
import type { ReportContent } from "../../../domain/tasks/report.js";
import type { Task } from "../../../domain/tasks/task.js";
import type { NotFound } from "../../errors.js";

/** A report as it arrives. `network`: of its sender; the store keeps only a keyed digest of it. */
export type NewReport = ReportContent & { readonly taskId: TaskId; readonly network: string; readonly at: Date };

/** A panorama with open reports. `reports`: the first ones, oldest first; `total`: of all. */
export type ReportedTask = {
  readonly task: Task;
  readonly total: number;
  readonly reports: readonly (ReportContent & { readonly at: Date })[];
};

/** More open reports of one panorama say nothing new, and are not stored. */
export const OPEN_REPORTS_MAX = 100;

/** Reports of public panoramas. Throws if the store is unreachable. `TaskStore.withhold` ends the reports of a task. */
export interface ReportStore {
  /**
   * Keeps the first report of a network about a panorama, whatever became of it, and at most `OPEN_REPORTS_MAX`. None
   * of a panorama that is not public any more.
   */
  file(report: NewReport): Promise<void>;
  /** The panoramas with open reports that are not deleted, the longest waiting first. `shown`: reports of each. */
  open(limit: number, shown: number): Promise<ReportedTask[]>;
  /** Ends the open reports of a panorama; `not_found` if there are none. What their senders wrote is erased. */
  dismiss(id: TaskId, at: Date): Promise<Result<void, NotFound>>;
}
