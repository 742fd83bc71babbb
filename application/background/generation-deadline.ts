import { ok, type Result } from "neverthrow";
import { type GeneratedTask, restartDeadline, type SubmittedTask } from "../../domain/tasks/task.js";
import { failTask } from "../panoramas/end-task.js";
import { CLOCK_TOLERANCE_MILLISECONDS } from "../ports/clock.js";
import type { Lease, StaleTask } from "../ports/stores/tasks/task-store.js";
import type { TaskWorkPorts, WorkLimits } from "./work-on-leases.js";

/** Limits of the work, and the time from submission to the deadline. */
export type DeadlineSettings = WorkLimits & { readonly generationDeadlineMilliseconds: number };

type Generation = SubmittedTask | GeneratedTask;

/** No progress: text for the log, and pause before the next attempt. */
export type NoProgress = { readonly detail: string; readonly pauseMilliseconds: number };

export type DeadlineWork<T extends Generation> = {
  readonly work: "poll" | "check";
  /** Resolves to `undefined` if the generation has moved on. */
  readonly attempt: (lease: Lease<T>, sinceSubmissionMilliseconds: number) => Promise<NoProgress | undefined>;
  /** Cancels the generation of a task that is given up. Must have a timeout, and must not throw. */
  readonly stop?: (task: T) => Promise<unknown>;
};

/**
 * Makes one attempt to move a generation on. After the generation deadline it is the last one: if it makes no progress
 * or throws, the work is stopped, and the task fails and is refunded, even if the stop fails. Resolves to the time of
 * the next attempt, if there is one.
 */
export async function attemptBeforeDeadline<T extends Generation>(
  ports: TaskWorkPorts,
  settings: DeadlineSettings,
  claimed: Lease<T>,
  { work, attempt, stop }: DeadlineWork<T>,
): Promise<Date | undefined> {
  const { clock, reporter } = ports;
  const deadline = settings.generationDeadlineMilliseconds;
  const lease = await withPlausibleAge(ports, settings, claimed);
  if (lease.isErr()) return undefined; // another worker holds the lease now
  const { task } = lease.value;
  const age = () => clock.now().getTime() - task.submittedAt.getTime();
  const giveUp = async (detail: string): Promise<undefined> => {
    if (stop !== undefined) {
      const until = new Date(clock.now().getTime() + settings.leaseMilliseconds);
      const held = await ports.tasks.moveWithinLease(lease.value, task, until);
      if (held.isErr()) return; // another worker holds the lease now
      await stop(task);
    }
    await failTask(ports, lease.value, { reason: "deadline_passed", detail });
  };
  let notYet: NoProgress | undefined;
  try {
    notYet = await attempt(lease.value, age());
    if (notYet === undefined) return undefined;
  } catch (error) {
    // Before the deadline, the next attempt follows when the lease expires.
    if (age() < deadline) throw error;
    reporter.report({ kind: "work_failed", work, taskId: task.id, error });
    return giveUp(`the last attempt threw an error, after ${deadline} ms`);
  }
  const left = deadline - age();
  if (left <= 0) return giveUp(`${notYet.detail} after ${deadline} ms`);
  return new Date(clock.now().getTime() + Math.min(notYet.pauseMilliseconds, left));
}

/** Resets a submission time in the future, which would delay the deadline: the clock was set back. */
async function withPlausibleAge<T extends Generation>(
  { tasks, clock }: TaskWorkPorts,
  { leaseMilliseconds }: WorkLimits,
  lease: Lease<T>,
): Promise<Result<Lease<T>, StaleTask>> {
  const now = clock.now();
  if (lease.task.submittedAt.getTime() <= now.getTime() + CLOCK_TOLERANCE_MILLISECONDS) return ok(lease);
  const task = restartDeadline(lease.task, now);
  const moved = await tasks.moveWithinLease(lease, task, new Date(now.getTime() + leaseMilliseconds));
  return moved.map(() => ({ ...lease, task }));
}
