import { IDEMPOTENCY_KEPT_MILLISECONDS } from "../../domain/idempotency.js";
import { fail, type QueuedTask, type ReservedTask, submit } from "../../domain/task.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { Lease, TaskStore } from "../ports/task-store.js";
import { type LeasePorts, type WorkLimits, workOnLeases } from "./work-on-leases.js";

type Ports = LeasePorts & {
  readonly tasks: Pick<TaskStore, "move" | "forgetIdempotencyKeys">;
  readonly provider: Pick<GenerationProvider, "search">;
  readonly signals: Pick<TaskSignals, "announce">;
};

/**
 * Resolves every reserved task whose submission has no recorded answer after its deadline, fails the tasks that have
 * been queued for too long, and deletes expired idempotency keys. Resolves to the number of tasks. The deadline of a
 * generation is enforced by settle-submitted-tasks.ts, which polls once more before the task fails.
 */
export const sweep =
  (ports: Ports, limits: WorkLimits) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const { tasks, clock } = ports;
    await tasks.forgetIdempotencyKeys(new Date(clock.now().getTime() - IDEMPOTENCY_KEPT_MILLISECONDS));
    const reserved = await workOnLeases(ports, "sweep", limits, (lease) => resolveReserved(ports, lease), stopping);
    const queued = await workOnLeases(ports, "giveUp", limits, (lease) => giveUpQueued(ports, lease), stopping);
    return reserved + queued;
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
 * Searches the provider once for the task. If it is not found, or the search fails, the task fails and is refunded: the
 * customer never pays for an unclear submission.
 */
const resolveReserved = async (ports: Ports, lease: Lease<ReservedTask>): Promise<undefined> => {
  const { tasks, provider, clock, signals, reporter } = ports;
  const { task } = lease;
  const found = await provider.search(task.id);
  const now = clock.now();

  if (found.isOk() && found.value !== undefined) {
    const submitted = submit(task, found.value, now);
    const moved = await tasks.move(lease, submitted, now);
    if (moved.isErr()) return; // its submission was recorded in the meantime
    reporter.report({ kind: "submission_recovered", taskId: task.id, upstreamTaskId: found.value });
    signals.announce(submitted);
    return;
  }

  const detail = found.isErr() ? found.error.reason : "the provider has no such task";
  const failed = fail(task, "never_submitted", now);
  const moved = await tasks.move(lease, failed, undefined);
  if (moved.isErr()) return;
  reporter.report({ kind: "task_failed", taskId: task.id, reason: "never_submitted", detail });
  if (found.isErr()) reporter.report({ kind: "possible_orphan", taskId: task.id, detail });
  signals.announce(failed);
};
