import type { AccountId, TaskId } from "../../domain/ids.js";
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
  /** Wakes the callers that wait for the task. They then read it from the store. */
  wake(id: TaskId): void;
}

/**
 * Wakes streams in this process when an account may have a new event. Signals may be late, missing or unnecessary:
 * streams read the store.
 */
export interface EventSignals {
  /** Resolves on `wake` of this account, or when `signal` is aborted; never rejects. */
  next(account: AccountId, signal: AbortSignal): Promise<void>;
  /** The accounts with at least one waiting stream. */
  waitedFor(): AccountId[];
  wake(account: AccountId): void;
}
