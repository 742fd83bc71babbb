import type { TaskSignals } from "../../application/ports/task-signals.js";
import type { Task } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";

/** Task signals within this process. Changes by other instances: application/background/watch-waited-tasks.ts. */
export class InProcessTaskSignals implements TaskSignals {
  private readonly waiting = new Map<TaskId, Set<() => void>>();
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
    return [...this.waiting.keys()];
  }

  wake(id: TaskId): void {
    for (const wake of this.waiting.get(id) ?? []) wake();
  }

  next(id: TaskId, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wakes = this.waiting.get(id) ?? new Set();
      const wake = () => {
        signal.removeEventListener("abort", wake);
        wakes.delete(wake);
        if (wakes.size === 0) this.waiting.delete(id);
        resolve();
      };
      wakes.add(wake);
      this.waiting.set(id, wakes);
      signal.addEventListener("abort", wake);
    });
  }

  /** Calls `listener` for each announcement until the returned function is called. */
  subscribe(listener: (task: Task) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
