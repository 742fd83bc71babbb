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
 * Resolves every reserved task whose submission has no recorded answer after its deadline, gives up what has waited in
 * the queue for too long, and forgets old idempotency keys. Resolves to the number of tasks. The deadline of a generation
 * is kept by settling, which looks once more before it gives up.
 */
export const sweep =
  (ports: Ports, pace: WorkLimits) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const { tasks, clock } = ports;
    await tasks.forgetIdempotencyKeys(new Date(clock.now().getTime() - IDEMPOTENCY_KEPT_MILLISECONDS));
    const stuck = await workOnLeases(ports, "sweep", pace, (lease) => resolveStuck(ports, lease), stopping);
    const waited = await workOnLeases(ports, "giveUp", pace, (lease) => giveUp(ports, lease), stopping);
    return stuck + waited;
  };

/** Nothing was ever sent for it. */
const giveUp = async ({ tasks, clock, signals, reporter }: Ports, lease: Lease<QueuedTask>): Promise<undefined> => {
  const failed = fail(lease.task, "never_started", clock.now());
  const moved = await tasks.move(lease, failed, undefined);
  if (moved.isErr()) return; // it was started at last
  const detail = "no place became free at the provider in time";
  reporter.report({ kind: "task_failed", taskId: failed.id, reason: "never_started", detail });
  signals.announce(failed);
};

/** The provider is asked once whether it knows the task; if it does not, the customer never pays for the doubt. */
const resolveStuck = async (ports: Ports, lease: Lease<ReservedTask>): Promise<undefined> => {
  const { tasks, provider, clock, signals, reporter } = ports;
  const { task } = lease;
  const found = await provider.search(task.id);
  const now = clock.now();

  if (found.isOk() && found.value !== undefined) {
    const submitted = submit(task, found.value, now);
    const moved = await tasks.move(lease, submitted, now);
    if (moved.isErr()) return; // its own answer came in at last
    reporter.report({ kind: "submission_recovered", taskId: task.id, upstreamTaskId: found.value });
    signals.announce(submitted);
    return;
  }

  const detail = found.isErr() ? found.error.reason : "the provider knows no such task";
  const failed = fail(task, "never_submitted", now);
  const moved = await tasks.move(lease, failed, undefined);
  if (moved.isErr()) return;
  reporter.report({ kind: "task_failed", taskId: task.id, reason: "never_submitted", detail });
  if (found.isErr()) reporter.report({ kind: "possible_orphan", taskId: task.id, detail });
  signals.announce(failed);
};
