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
 * Works on every task that is due for `work`, until none is left. Each task is leased to one worker at a time; if the
 * work on one throws, that is reported, its lease runs out, and the others go on. Resolves to the number worked on.
 */
export const workOnLeases = async <Work extends keyof DueWork>(
  { tasks, clock, reporter }: Ports,
  work: Work,
  { leaseMilliseconds, concurrency }: WorkPace,
  workOn: (lease: Lease<DueWork[Work]>) => Promise<void>,
): Promise<number> => {
  let worked = 0;
  for (;;) {
    const now = clock.now();
    const leases = await tasks.claim(work, now, new Date(now.getTime() + leaseMilliseconds), concurrency);
    await Promise.all(
      leases.map((lease) =>
        workOn(lease).catch((error: unknown) => {
          const { id }: Task = lease.task;
          reporter.report({ kind: "work_failed", work, taskId: id, error });
        }),
      ),
    );
    worked += leases.length;
    if (leases.length < concurrency) return worked;
  }
};
