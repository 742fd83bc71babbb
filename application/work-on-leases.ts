import type { Task } from "../domain/task.js";
import type { Clock } from "./ports/clock.js";
import type { Reporter } from "./ports/reporter.js";
import type { DueWork, Lease, TaskStore } from "./ports/task-store.js";

/** How one kind of background work takes its tasks. */
export type WorkPace = {
  /** How long a task is this worker's own; longer than the work on it can take. */
  readonly leaseMilliseconds: number;
  /** Tasks that are worked on at once. */
  readonly concurrency: number;
};

type Ports = { readonly tasks: TaskStore; readonly clock: Clock; readonly reporter: Reporter };

/**
 * Works on every task that is due for `work`, until none is left or `stopping` is aborted. Each task is leased to one
 * worker at a time; if the work on one throws, that is reported, its lease runs out, and the others go on. A slow one
 * holds up no other, and tasks are claimed by the half of `concurrency`, so that a claim is worth its statement. Resolves
 * to the number worked on.
 */
export const workOnLeases = async <Work extends keyof DueWork>(
  { tasks, clock, reporter }: Ports,
  work: Work,
  { leaseMilliseconds, concurrency }: WorkPace,
  workOn: (lease: Lease<DueWork[Work]>) => Promise<void>,
  stopping?: AbortSignal,
): Promise<number> => {
  const running = new Set<Promise<void>>();
  const begin = (lease: Lease<DueWork[Work]>): void => {
    const { id }: Task = lease.task;
    const ended = workOn(lease)
      .catch((error: unknown) => reporter.report({ kind: "work_failed", work, taskId: id, error }))
      .finally(() => running.delete(ended));
    running.add(ended);
  };

  let worked = 0;
  for (let more = true; more && stopping?.aborted !== true; ) {
    const now = clock.now();
    const free = concurrency - running.size;
    const leases = await tasks.claim(work, now, new Date(now.getTime() + leaseMilliseconds), free);
    leases.forEach(begin);
    worked += leases.length;
    more = leases.length === free;
    while (more && running.size > concurrency / 2) await Promise.race(running);
  }
  await Promise.all(running);
  return worked;
};
