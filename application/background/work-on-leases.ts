import type { Task } from "../../domain/tasks/task.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { Clock } from "../ports/clock.js";
import type { Lease } from "../ports/stores/tasks/task-store.js";
import type { DueWork, Postponement } from "../ports/stores/tasks/task-work.js";

/** Limits of one kind of background work. */
export type WorkLimits = {
  /** Duration of a lease; longer than the work on one task can take. */
  readonly leaseMilliseconds: number;
  /** Maximum number of tasks in progress at once. */
  readonly concurrency: number;
};

/** Ports of background work on tasks. */
export type TaskWorkPorts = Pick<
  ApplicationPorts,
  "tasks" | "provider" | "storage" | "imaging" | "clock" | "ids" | "signals" | "reporter"
>;

/**
 * Works on every task that is due for `work`, until none is left or `stopping` is aborted. Each task is leased to one
 * worker at a time. If the work on a task throws, the error is reported and the lease expires; the other tasks
 * continue. A slow task does not delay the others. Resolves to the number of tasks.
 *
 * New tasks are claimed when half of `concurrency` is free. Unchanged tasks, for which `workOn` resolves to their next
 * due time, are postponed in batches. Both keep the number of database statements low for thousands of tasks.
 */
export async function workOnLeases<Work extends keyof DueWork>(
  { tasks, clock, reporter }: TaskWorkPorts,
  work: Work,
  { leaseMilliseconds, concurrency, stopping }: WorkLimits & { readonly stopping?: AbortSignal | undefined },
  workOn: (lease: Lease<DueWork[Work]>) => Promise<Date | undefined>,
): Promise<number> {
  const running = new Set<Promise<void>>();
  const postponements: Postponement[] = [];
  const returnLeases = async (): Promise<void> => {
    if (postponements.length > 0) await tasks.postpone(postponements.splice(0));
  };
  const begin = (lease: Lease<DueWork[Work]>): void => {
    const { id }: Task = lease.task;
    const run = () => workOn(lease);
    const ended = (reporter.trace?.(work, lease.task, run) ?? run())
      .then((dueAt) => {
        if (dueAt !== undefined) postponements.push({ lease, dueAt });
      })
      .catch((error: unknown) => reporter.report({ kind: "work_failed", work, taskId: id, error }))
      .finally(() => running.delete(ended));
    running.add(ended);
  };

  let worked = 0;
  for (let more = true; more || running.size > 0; ) {
    const now = clock.now();
    const free = stopping?.aborted === true ? 0 : concurrency - running.size;
    const until = new Date(now.getTime() + leaseMilliseconds);
    const leases = free === 0 ? [] : await tasks.claim(work, now, until, free);
    leases.forEach(begin);
    worked += leases.length;
    more = free > 0 && leases.length === free;
    if (!more) await waitUpToASecond(running, clock);
    while (more && running.size > concurrency / 2) await Promise.race(running);
    await returnLeases();
  }
  await returnLeases(); // tasks that ended during the last call
  return worked;
}

const WAIT_MILLISECONDS = 1_000;

/** Resolves when all promises have settled, or after one second, when more work may be due. */
export async function waitUpToASecond(running: ReadonlySet<Promise<void>>, clock: Clock): Promise<void> {
  const ended = new AbortController();
  await Promise.race([Promise.all(running), clock.sleep(WAIT_MILLISECONDS, ended.signal)]);
  ended.abort();
}
