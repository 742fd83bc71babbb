import type { Task } from "../../domain/task.js";
import type { Clock } from "../ports/clock.js";
import type { Reporter } from "../ports/reporter.js";
import type { DueWork, Lease, Postponement, TaskStore } from "../ports/task-store.js";
import { waitUpToASecond } from "./wait-up-to-a-second.js";

/** How one kind of background work takes its tasks. */
export type WorkLimits = {
  /** How long a task is this worker's own; longer than the work on it can take. */
  readonly leaseMilliseconds: number;
  /** Tasks that are worked on at once. */
  readonly concurrency: number;
};

export type LeasePorts = {
  readonly tasks: Pick<TaskStore, "claim" | "postpone">;
  readonly clock: Clock;
  readonly reporter: Reporter;
};

/**
 * Works on every task that is due for `work`, until none is left or `stopping` is aborted. Each task is leased to one
 * worker at a time; if the work on one throws, that is reported, its lease runs out, and the others go on. A slow one
 * holds up no other. Resolves to the number worked on.
 *
 * Tasks are claimed by the half of `concurrency`, and those with which nothing has happened (`workOn` says when they are
 * due again) are given back together: thousands that are only looked at cost few statements.
 */
export const workOnLeases = async <Work extends keyof DueWork>(
  { tasks, clock, reporter }: LeasePorts,
  work: Work,
  { leaseMilliseconds, concurrency }: WorkLimits,
  workOn: (lease: Lease<DueWork[Work]>) => Promise<Date | undefined>,
  stopping?: AbortSignal,
): Promise<number> => {
  const running = new Set<Promise<void>>();
  const postponements: Postponement[] = [];
  const giveBack = async (): Promise<void> => {
    if (postponements.length > 0) await tasks.postpone(postponements.splice(0));
  };
  const begin = (lease: Lease<DueWork[Work]>): void => {
    const { id }: Task = lease.task;
    const ended = workOn(lease)
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
    await giveBack();
  }
  await giveBack(); // what ended while the ones before it were given back
  return worked;
};
