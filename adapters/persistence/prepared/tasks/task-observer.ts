import type { DueWork } from "../../../../application/ports/stores/tasks/task-work.js";
import type { Task } from "../../../../domain/tasks/task.js";

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
