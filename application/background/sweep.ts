import { IDEMPOTENCY_KEPT_MILLISECONDS } from "../../domain/panorama-policy.js";
import { fail, type QueuedTask, type ReservedTask, submit } from "../../domain/task.js";
import { queueDeadlineOf, type SubmissionSettings } from "../panoramas/submit-task.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { DueWork, Lease, TaskStore } from "../ports/task-store.js";
import { CLOCK_TOLERANCE_MILLISECONDS, type LeasePorts, type WorkLimits, workOnLeases } from "./work-on-leases.js";

type Ports = LeasePorts & {
  readonly tasks: Pick<TaskStore, "move" | "requeue" | "bringForward" | "forgetIdempotencyKeys">;
  readonly provider: Pick<GenerationProvider, "search">;
  readonly signals: Pick<TaskSignals, "announce">;
};

type Settings = WorkLimits &
  SubmissionSettings & {
    /** How far ahead each kind of work can be due: its longest delay, or its lease if that is longer. */
    readonly dueWithinMilliseconds: Readonly<Record<keyof DueWork, number>>;
  };

/**
 * Resolves every reserved task whose submission has no recorded answer after its deadline, fails the tasks that have
 * been queued for too long, corrects due times that a clock has written before it was set back, and deletes expired
 * idempotency keys. Resolves to the number of tasks. The deadline of a generation is enforced by
 * settle-submitted-tasks.ts, which polls once more before the task fails.
 */
export const sweep =
  (ports: Ports, settings: Settings) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const { tasks, clock } = ports;
    let worked = 0;
    const errors: unknown[] = [];
    for (const step of [
      () => bringForward(ports, settings),
      async () => {
        worked += await workOnLeases(
          ports,
          "sweep",
          settings,
          (lease) => resolveReserved(ports, settings, lease),
          stopping,
        );
      },
      async () => {
        worked += await workOnLeases(ports, "giveUp", settings, (lease) => giveUpQueued(ports, lease), stopping);
      },
      () => tasks.forgetIdempotencyKeys(new Date(clock.now().getTime() - IDEMPOTENCY_KEPT_MILLISECONDS)),
    ]) {
      await step().catch((error: unknown) => errors.push(error)); // the other steps still run
    }
    if (errors.length > 0) throw errors[0];
    return worked;
  };

/**
 * Polls, attempts to store an image and deletions are due at once. A task in the queue and a submission whose answer may
 * still arrive have their full time again, because this work ends them.
 */
const bringForward = async ({ tasks, clock }: Ports, { dueWithinMilliseconds }: Settings): Promise<void> => {
  for (const work of ["giveUp", "sweep", "settle", "check", "keep", "erase"] as const) {
    await tasks.bringForward(work, () => {
      const now = clock.now().getTime();
      const latest = now + dueWithinMilliseconds[work];
      const dueAt = work === "giveUp" || work === "sweep" ? latest : now;
      return {
        now: new Date(now),
        latest: new Date(latest + CLOCK_TOLERANCE_MILLISECONDS),
        dueAt: new Date(dueAt),
      };
    });
  }
};

/** Fails and refunds a task that was queued for too long. Nothing was sent to the provider for it. */
const giveUpQueued = async (
  { tasks, clock, signals, reporter }: Ports,
  lease: Lease<QueuedTask>,
): Promise<undefined> => {
  const failed = fail(lease.task, "never_started", clock.now());
  const moved = await tasks.move(lease, failed, undefined);
  if (moved.isErr()) return; // it was started in the meantime
  const detail = "no slot of the provider became free in time";
  reporter.report({ kind: "task_failed", taskId: failed.id, reason: "never_started", detail });
  signals.announce(failed);
};

/**
 * Searches the provider once for the task. If the provider certainly has no such task, the process died before the call
 * was sent, and the task returns to the queue, unless its time to wait is over. If the search or its record fails, the
 * task fails and is refunded: the customer never pays for an unclear submission.
 *
 * Nobody sends the earlier submission after this search, also not a process that was paused: a provider sends no call
 * that could still be under way at the submission deadline (`GenerationProvider.submit`).
 */
const resolveReserved = async (ports: Ports, settings: Settings, lease: Lease<ReservedTask>): Promise<undefined> => {
  const { task } = lease;
  try {
    const found = await ports.provider.search(task.id, task.reservedAt);
    if (found.isErr()) await failReserved(ports, lease, { isOrphan: true, detail: found.error.reason });
    else if (found.value !== undefined) await recover(ports, lease, found.value);
    else await requeueReserved(ports, settings, lease);
  } catch (error) {
    // For example an upstream task id that the store rejects. Another attempt would throw again.
    ports.reporter.report({ kind: "work_failed", work: "sweep", taskId: task.id, error });
    await failReserved(ports, lease, { isOrphan: true, detail: "the search or its record threw an error" });
  }
};

const recover = async (ports: Ports, lease: Lease<ReservedTask>, upstreamTaskId: string): Promise<void> => {
  const { tasks, clock, signals, reporter } = ports;
  const now = clock.now();
  const submitted = submit(lease.task, upstreamTaskId, now);
  const moved = await tasks.move(lease, submitted, now);
  if (moved.isErr()) return; // its submission was recorded in the meantime
  reporter.report({ kind: "submission_recovered", taskId: submitted.id, upstreamTaskId });
  signals.announce(submitted);
};

const requeueReserved = async (ports: Ports, settings: Settings, lease: Lease<ReservedTask>): Promise<void> => {
  const { tasks, clock, reporter } = ports;
  const { id } = lease.task;
  const detail = "the provider has no such task";
  const now = clock.now();
  const dueAt = queueDeadlineOf(lease.task, settings, now);
  if (dueAt <= now) return failReserved(ports, lease, { isOrphan: false, detail });
  const requeued = await tasks.requeue(lease, dueAt);
  if (requeued.isOk()) reporter.report({ kind: "task_requeued", taskId: id, detail });
};

const failReserved = async (
  { tasks, clock, signals, reporter }: Ports,
  lease: Lease<ReservedTask>,
  { isOrphan, detail }: { readonly isOrphan: boolean; readonly detail: string },
): Promise<void> => {
  const failed = fail(lease.task, "never_submitted", clock.now());
  const moved = await tasks.move(lease, failed, undefined);
  if (moved.isErr()) return;
  reporter.report({ kind: "task_failed", taskId: failed.id, reason: "never_submitted", detail });
  if (isOrphan) reporter.report({ kind: "possible_orphan", taskId: failed.id, detail });
  signals.announce(failed);
};
