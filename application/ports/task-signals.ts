import type { Task } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";

/**
 * Notifies waiting callers in this process when a task changes. Signals may be late or missing: callers must also read
 * the store.
 */
export interface TaskSignals {
  announce(task: Task): void;
  /** Resolves when the task is announced or when `signal` is aborted; never rejects. */
  next(id: TaskId, signal: AbortSignal): Promise<void>;
}
