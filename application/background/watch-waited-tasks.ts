import type { TaskSignals } from "../ports/task-signals.js";
import type { TaskStore } from "../ports/task-store.js";

type Ports = {
  readonly tasks: Pick<TaskStore, "ended">;
  readonly signals: Pick<TaskSignals, "waitedFor" | "wake">;
};

/**
 * Wakes the calls that wait for a task which another instance has ended: that instance sends no signal here. All waits of
 * a process share one statement, and without waits there is none. A single instance does not need it.
 */
export const watchWaitedTasks =
  ({ tasks, signals }: Ports) =>
  async (): Promise<void> => {
    const ids = signals.waitedFor();
    if (ids.length === 0) return;
    for (const id of await tasks.ended(ids)) signals.wake(id);
  };
