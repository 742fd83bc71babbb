import { ok, type Result } from "neverthrow";
import { type GeneratedTask, restartAge, type SubmittedTask } from "../../domain/tasks/task.js";
import { type FailPorts, failTask } from "../panoramas/end-task.js";
import { CLOCK_TOLERANCE_MILLISECONDS } from "../ports/clock.js";
import type { Lease, StaleTask } from "../ports/stores/tasks/task-store.js";
import type { TaskWork } from "../ports/stores/tasks/task-work.js";
import type { LeasePorts, WorkLimits } from "./work-on-leases.js";

/** What work with a deadline needs. */
export type DeadlinePorts = LeasePorts & FailPorts & { readonly tasks: Pick<TaskWork, "moveWithinLease"> };

/** Limits of the work, and the time from submission to the deadline. */
export type DeadlineSettings = WorkLimits & { readonly generationDeadlineMilliseconds: number };

type Generation = SubmittedTask | GeneratedTask;

/** The task has not moved on: what the log says about it, and when the next attempt may take place. */
export type NotYet = { readonly detail: string; readonly pauseMilliseconds: number };

/** The work on a generation that has a deadline. */
export type DeadlineWork<T extends Generation> = {
  readonly work: "settle" | "check";
  /** Resolves to `undefined` if the generation has moved on. */
  readonly attempt: (lease: Lease<T>, sinceSubmissionMilliseconds: number) => Promise<NotYet | undefined>;
  /** Ends what the provider still does for a task that is given up. It must end in time, and must not throw. */
  readonly stop?: (task: T) => Promise<unknown>;
};

/**
 * Makes one attempt to move a generation on. After the generation deadline this attempt was the last one: if the task
 * has not moved on, or the attempt throws, the work is stopped, and the task fails and is refunded, whether the work
 * could be stopped or not. Resolves to the time of the next attempt, if there is one.
 */
export const attemptBeforeDeadline = async <T extends Generation>(
  ports: DeadlinePorts,
  settings: DeadlineSettings,
  claimed: Lease<T>,
  { work, attempt, stop }: DeadlineWork<T>,
): Promise<Date | undefined> => {
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
  let notYet: NotYet | undefined;
  try {
    notYet = await attempt(lease.value, age());
    if (notYet === undefined) return undefined;
  } catch (error) {
    // Before the deadline there is another attempt when the lease has expired.
    if (age() < deadline) throw error;
    reporter.report({ kind: "work_failed", work, taskId: task.id, error });
    return giveUp(`the last attempt threw an error, after ${deadline} ms`);
  }
  const left = deadline - age();
  if (left <= 0) return giveUp(`${notYet.detail} after ${deadline} ms`);
  return new Date(clock.now().getTime() + Math.min(notYet.pauseMilliseconds, left));
};

/** If the submission lies in the future, the clock was set back, and the deadline would come too late. */
const withPlausibleAge = async <T extends Generation>(
  { tasks, clock }: DeadlinePorts,
  { leaseMilliseconds }: WorkLimits,
  lease: Lease<T>,
): Promise<Result<Lease<T>, StaleTask>> => {
  const now = clock.now();
  if (lease.task.submittedAt.getTime() <= now.getTime() + CLOCK_TOLERANCE_MILLISECONDS) return ok(lease);
  const task = restartAge(lease.task, now);
  const moved = await tasks.moveWithinLease(lease, task, new Date(now.getTime() + leaseMilliseconds));
  return moved.map(() => ({ ...lease, task }));
};
