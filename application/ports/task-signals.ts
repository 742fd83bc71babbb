import type { Task } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";

/** Tells whoever waits in this process that a task moved. A hint, never the truth: it may come late or not at all. */
export interface TaskSignals {
  announce(task: Task): void;
  /** Resolves when the task is announced, or when `signal` is aborted; never rejects. */
  next(id: TaskId, signal: AbortSignal): Promise<void>;
}
