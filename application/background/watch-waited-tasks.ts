import type { TaskStore } from "../ports/stores/tasks/task-store.js";
import type { TaskSignals } from "../ports/task-signals.js";

type Ports = {
  readonly tasks: Pick<TaskStore, "ended">;
  readonly signals: Pick<TaskSignals, "waitedFor" | "wake">;
};

/**
 * Wakes the calls that wait for a task that another instance has ended: that instance sends no signal here. All waits
 * of a process share one statement. Without waits there is none. A single instance does not need it.
 */
export const watchWaitedTasks =
  ({ tasks, signals }: Ports) =>
  async (): Promise<void> => {
    const ids = signals.waitedFor();
    if (ids.length === 0) return;
    for (const id of await tasks.ended(ids)) signals.wake(id);
  };
