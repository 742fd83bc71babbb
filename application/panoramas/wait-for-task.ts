import type { Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { isActive, type Task } from "../../domain/tasks/task.js";
import type { NotFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";
import type { TaskSignals } from "../ports/task-signals.js";
import { readTask } from "./read-task.js";

type Ports = {
  readonly tasks: Pick<TaskStore, "find">;
  readonly clock: Clock;
  readonly signals: Pick<TaskSignals, "next">;
};

/**
 * `GET /panoramas/{id}` with `Prefer: wait`. Resolves with the task when it leaves `processing`, after
 * `waitMilliseconds`, or when `signal` is aborted. Reads the store when a signal arrives and at the end of the wait; in
 * between it costs nothing. Signals about tasks that other instances end: background/watch-waited-tasks.ts.
 */
export const waitForTask =
  ({ tasks, clock, signals }: Ports) =>
  async (
    id: TaskId,
    owner: AccountId,
    waitMilliseconds: number,
    signal: AbortSignal,
  ): Promise<Result<Task, NotFound>> => {
    const startedAt = clock.now().getTime();
    for (;;) {
      const woken = new AbortController();
      const ended = AbortSignal.any([signal, woken.signal]);
      try {
        // Listens before it reads, so that it does not miss a move between the two.
        const moved = signals.next(id, ended);
        const task = await readTask({ tasks })(id, owner);
        // A change of the system clock, also backwards, shortens the wait and never extends it.
        const left = waitMilliseconds - Math.abs(clock.now().getTime() - startedAt);
        if (task.isErr() || !isActive(task.value) || left <= 0 || signal.aborted) return task;
        await Promise.race([moved, clock.sleep(left, ended)]);
      } finally {
        woken.abort(); // ends the listener and the timer, also if the store throws
      }
    }
  };
