import { ok, type Result } from "neverthrow";
import { panoramaName } from "../../domain/object-name.js";
import { resultUrlOf } from "../../domain/result-url.js";
import { uploading } from "../../domain/storage-status.js";
import { type FailureReason, fail, restartAge, type SubmittedTask, succeed, type Task } from "../../domain/task.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { Ids } from "../ports/ids.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { Lease, StaleTask, TaskStore } from "../ports/task-store.js";
import { CLOCK_TOLERANCE_MILLISECONDS, type LeasePorts, type WorkLimits, workOnLeases } from "./work-on-leases.js";

type Ports = LeasePorts & {
  readonly tasks: Pick<TaskStore, "move">;
  readonly provider: Pick<GenerationProvider, "poll" | "readiness" | "nextPollMilliseconds">;
  readonly ids: Pick<Ids, "unguessable">;
  readonly signals: Pick<TaskSignals, "announce">;
};

type Settings = WorkLimits & { readonly generationDeadlineMilliseconds: number };

/**
 * Polls the provider for every submitted task that is due. A finished task succeeds; a failed one is refunded. After the
 * generation deadline the task is polled once more: if it still runs, or if this throws, it fails and is refunded.
 * Resolves to the number of polls.
 */
export const settleSubmittedTasks =
  (ports: Ports, settings: Settings) =>
  (stopping?: AbortSignal): Promise<number> =>
    workOnLeases(ports, "settle", settings, (lease) => settle(ports, settings, lease), stopping);

/** Resolves to the time of the next poll if the task is still running, otherwise to `undefined`. */
const settle = async (ports: Ports, settings: Settings, claimed: Lease<SubmittedTask>): Promise<Date | undefined> => {
  const { clock, reporter } = ports;
  const deadline = settings.generationDeadlineMilliseconds;
  const lease = await withPlausibleAge(ports, settings, claimed);
  if (lease.isErr()) return undefined; // another worker holds the lease now
  const { task } = lease.value;
  const age = () => clock.now().getTime() - task.submittedAt.getTime();
  try {
    const ended = await poll(ports, lease.value);
    if (ended) return undefined;
  } catch (error) {
    // Before the deadline the task is polled again when its lease has expired.
    if (age() < deadline) throw error;
    reporter.report({ kind: "work_failed", work: "settle", taskId: task.id, error });
    await failTask(ports, lease.value, "deadline_passed", `the last poll threw an error, after ${deadline} ms`);
    return undefined;
  }
  const left = deadline - age();
  if (left <= 0) {
    await failTask(ports, lease.value, "deadline_passed", `still running after ${deadline} ms`);
    return undefined;
  }
  const pause = ports.provider.nextPollMilliseconds(task.upstreamTaskId, deadline - left);
  return new Date(clock.now().getTime() + Math.min(pause, left));
};

/** If the submission lies in the future, the clock was set back, and the deadline would come too late. */
const withPlausibleAge = async (
  { tasks, clock }: Ports,
  { leaseMilliseconds }: Settings,
  lease: Lease<SubmittedTask>,
): Promise<Result<Lease<SubmittedTask>, StaleTask>> => {
  const now = clock.now();
  if (lease.task.submittedAt.getTime() <= now.getTime() + CLOCK_TOLERANCE_MILLISECONDS) return ok(lease);
  const task = restartAge(lease.task, now);
  const moved = await tasks.move(lease, task, new Date(now.getTime() + leaseMilliseconds));
  return moved.map(() => ({ ...lease, task }));
};

/** Polls once, and ends the task if the provider has ended the generation. Resolves to whether it has. */
const poll = async (ports: Ports, lease: Lease<SubmittedTask>): Promise<boolean> => {
  const { provider, clock, ids, reporter } = ports;
  const { task } = lease;
  const progress = await provider.poll(task.upstreamTaskId);
  if (progress.isErr()) {
    // The circuit breaker has reported the outage; a report for each of thousands of tasks would add nothing.
    if (provider.readiness() !== "down") {
      reporter.report({ kind: "provider_unavailable", taskId: task.id, detail: progress.error.reason });
    }
    return false;
  }
  if (progress.value.state === "running") return false;
  if (progress.value.state === "failed") {
    await failTask(ports, lease, "generation_failed", progress.value.reason);
    return true;
  }
  const temporaryUrl = resultUrlOf(progress.value.temporaryUrl);
  if (temporaryUrl === undefined) {
    await failTask(ports, lease, "generation_failed", "the provider's result is not a URL that can be downloaded");
    return true;
  }
  const now = clock.now();
  const succeeded = succeed(task, uploading(temporaryUrl, panoramaName(ids.unguessable())), now);
  const moved = await moveAndAnnounce(ports, lease, succeeded, now);
  const seconds = (now.getTime() - task.reservedAt.getTime()) / 1000;
  if (moved.isOk()) reporter.report({ kind: "task_succeeded", taskId: task.id, seconds });
  return true;
};

const failTask = async (
  ports: Ports,
  lease: Lease<SubmittedTask>,
  reason: FailureReason,
  detail: string,
): Promise<void> => {
  const failed = fail(lease.task, reason, ports.clock.now());
  const moved = await moveAndAnnounce(ports, lease, failed, undefined);
  if (moved.isOk()) ports.reporter.report({ kind: "task_failed", taskId: failed.id, reason, detail });
};

/** Stores and announces the next state. Does not announce a stale task: the worker that settled it has done so. */
const moveAndAnnounce = async (
  { tasks, signals }: Ports,
  lease: Lease<Task>,
  next: Task,
  dueAt: Date | undefined,
): Promise<Result<void, StaleTask>> => {
  const moved = await tasks.move(lease, next, dueAt);
  if (moved.isOk()) signals.announce(next);
  return moved;
};
