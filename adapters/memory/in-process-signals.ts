import type { EventSignals, TaskSignals } from "../../application/ports/signals.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { Task } from "../../domain/tasks/task.js";
import { WaitingCalls } from "./waiting-calls.js";

/** Event signals within this process. Events of other instances: application/background/watch-changes.ts. */
export class InProcessEventSignals implements EventSignals {
  private readonly waiting = new WaitingCalls<AccountId>();

  next(account: AccountId, signal: AbortSignal): Promise<void> {
    return this.waiting.next(account, signal);
  }

  waitedFor(): AccountId[] {
    return this.waiting.keys();
  }

  wake(account: AccountId): void {
    this.waiting.wake(account);
  }
}

/** Task signals within this process. Changes by other instances: application/background/watch-changes.ts. */
export class InProcessTaskSignals implements TaskSignals {
  private readonly waiting = new WaitingCalls<TaskId>();
  private readonly listeners = new Set<(task: Task) => void>();

  /** Number of tasks with at least one waiting call. */
  get size(): number {
    return this.waiting.size;
  }

  announce(task: Task): void {
    this.wake(task.id);
    for (const listener of this.listeners) listener(task);
  }

  waitedFor(): TaskId[] {
    return this.waiting.keys();
  }

  wake(id: TaskId): void {
    this.waiting.wake(id);
  }

  next(id: TaskId, signal: AbortSignal): Promise<void> {
    return this.waiting.next(id, signal);
  }

  /** Calls `listener` for each announcement until the returned function is called. */
  subscribe(listener: (task: Task) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
