import type { Result } from "neverthrow";
import { IDEMPOTENCY_KEPT_MILLISECONDS } from "../../domain/panorama-policy.js";
import { type FailedTask, type QueuedTask, type SubmittingTask, submit } from "../../domain/tasks/task.js";
import { type Failure, failTask, moveTask, stopGeneration } from "../panoramas/end-task.js";
import { queueDeadlineOf, type SubmissionSettings } from "../panoramas/submit-task.js";
import { CLOCK_TOLERANCE_MILLISECONDS } from "../ports/clock.js";
import type { Lease, StaleTask } from "../ports/stores/tasks/task-store.js";
import type { DueWork } from "../ports/stores/tasks/task-work.js";
import { type TaskWorkPorts, type WorkLimits, workOnLeases } from "./work-on-leases.js";

type RecoverySettings = WorkLimits &
  SubmissionSettings & {
    /** Maximum distance of a due time from now, by kind of work: the longest delay or lease. */
    readonly dueWithinMilliseconds: Readonly<Record<keyof DueWork, number>>;
  };

/**
 * Resolves `submitting` tasks without a recorded answer after their submission deadline, fails tasks that have been
 * queued for too long, corrects due times that were written before the clock was set back, and deletes expired
 * idempotency keys. Resolves to the number of tasks. generation-deadline.ts enforces the deadline of a generation,
 * because the task is polled once more before it fails.
 */
export async function recoverTasks(
  ports: TaskWorkPorts,
  settings: RecoverySettings,
  stopping?: AbortSignal,
): Promise<number> {
  const { tasks, clock } = ports;
  let worked = 0;
  const errors: unknown[] = [];
  for (const step of [
    () => bringForward(ports, settings),
    async () => {
      worked += await workOnLeases(ports, "recover", { ...settings, stopping }, (lease) =>
        resolveSubmission(ports, settings, lease),
      );
    },
    async () => {
      worked += await workOnLeases(ports, "giveUp", { ...settings, stopping }, (lease) => giveUpQueued(ports, lease));
    },
    () => tasks.forgetIdempotencyKeys(new Date(clock.now().getTime() - IDEMPOTENCY_KEPT_MILLISECONDS)),
  ]) {
    await step().catch((error: unknown) => errors.push(error)); // the other steps still run
  }
  if (errors.length > 0) throw errors[0];
  return worked;
}

/**
 * After the clock was set back: polls, attempts to store an image and deletions become due now. Queued and `submitting`
 * tasks get a new full deadline, because this work ends them.
 */
async function bringForward(
  { tasks, clock }: TaskWorkPorts,
  { dueWithinMilliseconds }: RecoverySettings,
): Promise<void> {
  for (const work of ["giveUp", "recover", "poll", "check", "store", "erase"] as const) {
    await tasks.bringForward(work, () => {
      const now = clock.now().getTime();
      const latest = now + dueWithinMilliseconds[work];
      const dueAt = work === "giveUp" || work === "recover" ? latest : now;
      return {
        now: new Date(now),
        latest: new Date(latest + CLOCK_TOLERANCE_MILLISECONDS),
        dueAt: new Date(dueAt),
      };
    });
  }
}

/** Fails and refunds a task that was queued for too long. Nothing was sent to the provider for it. */
async function giveUpQueued(ports: TaskWorkPorts, lease: Lease<QueuedTask>): Promise<undefined> {
  // Stale: the task was started in the meantime.
  await failTask(ports, lease, { reason: "never_started", detail: "no slot of the provider became free in time" });
}

/**
 * Searches the provider once for the task. If the provider certainly has no such task, the task returns to the queue,
 * or fails at the queue deadline. If the search or its record fails, the task fails and is refunded: the customer never
 * pays for an unclear submission. Safe, because a provider sends no call that could outlast the submission deadline
 * (`GenerationProvider.submit`), not even from a process that was paused.
 */
async function resolveSubmission(
  ports: TaskWorkPorts,
  settings: RecoverySettings,
  lease: Lease<SubmittingTask>,
): Promise<undefined> {
  const { task } = lease;
  let upstreamTaskId: string | undefined;
  try {
    const found = await ports.provider.search(task.id, task.reservedAt);
    upstreamTaskId = found.unwrapOr(undefined);
    if (found.isErr()) await failReserved(ports, lease, { mayBeRunning: true, detail: found.error.reason });
    else if (upstreamTaskId !== undefined) await recover(ports, lease, upstreamTaskId);
    else await requeueReserved(ports, settings, lease);
  } catch (error) {
    // For example an upstream task id that the store rejects. Another attempt would throw again.
    ports.reporter.report({ kind: "work_failed", work: "recover", taskId: task.id, error });
    const detail = "the search or its record threw an error";
    const failed = await failReserved(ports, lease, { mayBeRunning: true, detail });
    // No task has this generation any more.
    if (failed.isOk() && upstreamTaskId !== undefined) await stopGeneration(ports, { id: task.id, upstreamTaskId });
  }
}

async function recover(ports: TaskWorkPorts, lease: Lease<SubmittingTask>, upstreamTaskId: string): Promise<void> {
  const { clock, reporter } = ports;
  const now = clock.now();
  const recovered = await moveTask(ports, lease, submit(lease.task, upstreamTaskId, now), now);
  if (recovered.isErr()) return; // its submission was recorded in the meantime
  const { id: taskId, place: provider } = lease.task;
  reporter.report({ kind: "submission_recovered", taskId, provider, upstreamTaskId });
}

async function requeueReserved(
  ports: TaskWorkPorts,
  settings: RecoverySettings,
  lease: Lease<SubmittingTask>,
): Promise<void> {
  const { tasks, clock, reporter } = ports;
  const { id } = lease.task;
  const detail = "the provider has no such task";
  const now = clock.now();
  const dueAt = queueDeadlineOf(lease.task, settings, now);
  if (dueAt <= now) return void (await failReserved(ports, lease, { detail }));
  const requeued = await tasks.requeue(lease, dueAt);
  if (requeued.isOk()) reporter.report({ kind: "task_requeued", taskId: id, detail });
}

function failReserved(
  ports: TaskWorkPorts,
  lease: Lease<SubmittingTask>,
  failure: Pick<Failure, "detail" | "mayBeRunning">,
): Promise<Result<FailedTask, StaleTask>> {
  return failTask(ports, lease, { reason: "never_submitted", ...failure });
}
