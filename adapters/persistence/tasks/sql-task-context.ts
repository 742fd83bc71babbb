import type { Clock } from "../../../application/ports/clock.js";
import type { Reporter } from "../../../application/ports/reporter.js";
import type { DueWork } from "../../../application/ports/stores/tasks/task-work.js";
import type { Task } from "../../../domain/tasks/task.js";
import type { Database } from "../database/sql/database.js";
import type { AccountWrites } from "./account-writes.js";
import type { UnreadableTasks } from "./unreadable-tasks.js";

/** The parts that all task ports on one database share. */
export type SqlTaskContext = {
  readonly database: Database;
  readonly writes: AccountWrites;
  readonly unreadable: UnreadableTasks;
  readonly observer: TaskObserver | undefined;
  readonly clock: Pick<Clock, "now">;
};

/** Options of `sqlTasks`. */
export type SqlTaskOptions = {
  /** Receives the tasks whose rows this version cannot read. */
  readonly reporter?: Pick<Reporter, "report"> | undefined;
  readonly observer?: TaskObserver | undefined;
  /** For events of tasks without a time. Default: the time of the system. */
  readonly clock?: Pick<Clock, "now"> | undefined;
};

/** Receives what a task store has committed, for metrics. Must not throw. */
export type TaskObserver = {
  /** A new task, with its credits reserved. */
  opened(task: Task): void;
  /** A task left the queue and is to be submitted. */
  started(task: Task): void;
  moved(before: Task, next: Task): void;
  /** A write was refused, because somebody else had changed or claimed the task. */
  stale(): void;
  /** The number of tasks leased to this process. */
  claimed(work: keyof DueWork, tasks: number): void;
};
