import type { TaskSignals } from "../../application/ports/signals.js";
import type { TaskStore } from "../../application/ports/stores/tasks/task-store.js";
import type { TaskWork } from "../../application/ports/stores/tasks/task-work.js";
import type { TaskId } from "../../domain/ids.js";
import { isActive } from "../../domain/tasks/task.js";

/** The ports of one process, with the tasks that it has ended and not announced. */
export type AnnouncedEnds = ReturnType<typeof announcedEnds>;

/** Remembers each end of a task that `tasks` stores until it is announced: clients wait for it. */
export const announcedEnds = <Tasks extends Pick<TaskStore, "move"> & Pick<TaskWork, "moveWithinLease">>(
  tasks: Tasks,
  signals: TaskSignals,
) => {
  const unannounced = new Set<TaskId>();
  const watched =
    (method: "move" | "moveWithinLease"): TaskStore["move"] =>
    async (current, next, at) => {
      const before = "fence" in current ? current.task : current;
      const stored = await tasks[method](current as never, next, at as never);
      if (stored.isOk() && isActive(before) && !isActive(next)) unannounced.add(next.id);
      return stored;
    };
  const methods = { move: watched("move"), moveWithinLease: watched("moveWithinLease") };
  return {
    unannounced,
    tasks: new Proxy(tasks, {
      get: (target, name) => methods[name as keyof typeof methods] ?? Reflect.get(target, name),
    }),
    signals: {
      announce: (task) => {
        unannounced.delete(task.id);
        signals.announce(task);
      },
      next: (id, signal) => signals.next(id, signal),
      waitedFor: () => signals.waitedFor(),
      wake: (id) => signals.wake(id),
    } satisfies TaskSignals,
  };
};
