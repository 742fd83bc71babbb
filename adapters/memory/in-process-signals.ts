import type { EventSignals, TaskSignals } from "../../application/ports/signals.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { Task } from "../../domain/tasks/task.js";

/** Signals within this process. Changes by other instances: application/background/watch-changes.ts. */
class InProcessSignals<Key> {
  private readonly waiting = new Map<Key, Set<() => void>>();

  waitedFor(): Key[] {
    return [...this.waiting.keys()];
  }

  wake(key: Key): void {
    for (const wake of this.waiting.get(key) ?? []) wake();
  }

  next(key: Key, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wakes = this.waiting.get(key) ?? new Set();
      const wake = () => {
        signal.removeEventListener("abort", wake);
        wakes.delete(wake);
        if (wakes.size === 0) this.waiting.delete(key);
        resolve();
      };
      wakes.add(wake);
      this.waiting.set(key, wakes);
      signal.addEventListener("abort", wake);
    });
  }
}

/** Event signals within this process. */
export class InProcessEventSignals extends InProcessSignals<AccountId> implements EventSignals {}

/** Task signals within this process. */
export class InProcessTaskSignals extends InProcessSignals<TaskId> implements TaskSignals {
  announce(task: Task): void {
    this.wake(task.id);
  }
}
