import { err, ok, type Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { Slug } from "../../domain/tasks/slug.js";
import { isActive, type SucceededTask, type Task } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { TaskSignals } from "../ports/signals.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

type ReadTaskPorts = { readonly tasks: Pick<TaskStore, "find"> };

/** `GET /panoramas/{id}`. A foreign task and an unknown id both give `not_found`. */
export const readTask =
  ({ tasks }: ReadTaskPorts) =>
  async (id: TaskId, owner: AccountId): Promise<Result<Task, NotFound>> => {
    const task = await tasks.find(id, owner);
    return task === undefined ? err(notFound(`There is no task ${id} on this account.`)) : ok(task);
  };

type WaitForTaskPorts = {
  readonly tasks: Pick<TaskStore, "find">;
  readonly clock: Clock;
  readonly signals: Pick<TaskSignals, "next">;
};

/**
 * `GET /panoramas/{id}` with `Prefer: wait`. Resolves with the task when it leaves `processing`, after
 * `waitMilliseconds`, or when `signal` is aborted. Reads the store only when a signal arrives and at the end of the
 * wait. Signals about tasks that other instances end: background/watch-changes.ts.
 */
export const waitForTask =
  ({ tasks, clock, signals }: WaitForTaskPorts) =>
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

/** `GET /works/{slug}`: the owner's panorama in any state. Foreign and unknown slugs both give `undefined`. */
export const findOwnPanorama =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "findBySlug"> }) =>
  async (slug: Slug, owner: AccountId): Promise<Task | undefined> => {
    const task = await tasks.findBySlug(slug);
    return task?.accountId === owner ? task : undefined;
  };

/** `GET /p/{slug}`: the finished panorama of this slug. Private and unknown slugs both give `undefined`. */
export const findPublicPanorama =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "findBySlug"> }) =>
  async (slug: Slug): Promise<SucceededTask | undefined> => {
    const task = await tasks.findBySlug(slug);
    return task?.state === "succeeded" && task.request.visibility === "public" ? task : undefined;
  };
