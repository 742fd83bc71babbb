import type { TaskId } from "../../domain/ids.js";
import type { Task } from "../../domain/tasks/task.js";

/**
 * Notifies waiting callers in this process when a task changes. Signals may be late or missing: callers must also read
 * the store.
 */
export interface TaskSignals {
  announce(task: Task): void;
  /** Resolves when the task is announced, on `wake`, or when `signal` is aborted; never rejects. */
  next(id: TaskId, signal: AbortSignal): Promise<void>;
  /** The tasks with at least one waiting caller. */
  waitedFor(): TaskId[];
  /** Wakes the callers that wait for the task, so that they read it. */
  wake(id: TaskId): void;
}
