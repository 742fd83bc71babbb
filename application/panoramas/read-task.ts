import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { isActive, type Task } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { TaskStore } from "../ports/task-store.js";

type ReadPorts = { readonly tasks: Pick<TaskStore, "find"> };

export type ReadTask = ReturnType<typeof readTask>;

/** `GET /panoramas/{id}`: somebody else's task is not found, as an unknown id is. */
export const readTask =
  ({ tasks }: ReadPorts) =>
  async (id: TaskId, owner: AccountId): Promise<Result<Task, NotFound>> => {
    const task = await tasks.find(id, owner);
    return task === undefined ? err(notFound(`There is no task ${id} on this account.`)) : ok(task);
  };

/** How often a waiting read looks into the store by itself: another instance may have moved the task. */
const READ_EVERY_MILLISECONDS = 1_000;

type WaitPorts = ReadPorts & { readonly clock: Clock; readonly signals: Pick<TaskSignals, "next"> };

export type WaitForTask = ReturnType<typeof waitForTask>;

/**
 * `GET /panoramas/{id}` with `Prefer: wait`: the task as soon as it has left `processing`, or as it is after
 * `waitMilliseconds`, or when `signal` is aborted. Holds no connection to the store while it waits.
 */
export const waitForTask =
  ({ tasks, clock, signals }: WaitPorts) =>
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
        // Listens before it reads: a move between the two is not missed.
        const moved = signals.next(id, ended);
        const task = await readTask({ tasks })(id, owner);
        // Whoever sets the clock, back as well, shortens the wait rather than holding the client up.
        const left = waitMilliseconds - Math.abs(clock.now().getTime() - startedAt);
        if (task.isErr() || !isActive(task.value) || left <= 0 || signal.aborted) return task;
        await Promise.race([moved, clock.sleep(Math.min(left, READ_EVERY_MILLISECONDS), ended)]);
      } finally {
        woken.abort(); // nobody listens or sleeps on, also when the store has thrown
      }
    }
  };
