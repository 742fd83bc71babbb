import type { Result } from "neverthrow";
import { panoramaName } from "../../domain/object-name.js";
import { uploading } from "../../domain/storage-status.js";
import { type FailureReason, fail, type SubmittedTask, succeed, type Task } from "../../domain/task.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { Ids } from "../ports/ids.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { Lease, StaleTask, TaskStore } from "../ports/task-store.js";
import { type LeasePorts, type WorkLimits, workOnLeases } from "./work-on-leases.js";

type Ports = LeasePorts & {
  readonly tasks: Pick<TaskStore, "move">;
  readonly provider: Pick<GenerationProvider, "poll" | "readiness" | "nextPollMilliseconds">;
  readonly ids: Pick<Ids, "unguessable">;
  readonly signals: Pick<TaskSignals, "announce">;
};

type Settings = WorkLimits & { readonly generationDeadlineMilliseconds: number };

/**
 * Polls the provider for every submitted task that is due. A finished task succeeds; a failed one is refunded. A task
 * that still runs after the generation deadline fails and is refunded after this last poll. Resolves to the number of
 * polls.
 */
export const settleSubmittedTasks =
  (ports: Ports, settings: Settings) =>
  (stopping?: AbortSignal): Promise<number> =>
    workOnLeases(ports, "settle", settings, (lease) => settle(ports, settings, lease), stopping);

/** Resolves to the time of the next poll if the task is still running, otherwise to `undefined`. */
const settle = async (ports: Ports, settings: Settings, lease: Lease<SubmittedTask>): Promise<Date | undefined> => {
  const { provider, clock, ids, reporter } = ports;
  const { task } = lease;
  const progress = await provider.poll(task.upstreamTaskId);
  const now = clock.now();

  if (progress.isErr()) {
    // The circuit breaker has reported the outage; a report for each of thousands of tasks would add nothing.
    if (provider.readiness() !== "down") {
      reporter.report({ kind: "provider_unavailable", taskId: task.id, detail: progress.error.reason });
    }
  } else if (progress.value.state === "succeeded") {
    const image = uploading(progress.value.temporaryUrl, panoramaName(ids.unguessable()));
    const succeeded = succeed(task, image, now);
    const moved = await moveAndAnnounce(ports, lease, succeeded, now);
    const seconds = (now.getTime() - task.reservedAt.getTime()) / 1000;
    if (moved.isOk()) reporter.report({ kind: "task_succeeded", taskId: task.id, seconds });
    return undefined;
  } else if (progress.value.state === "failed") {
    return failTask(ports, lease, "generation_failed", progress.value.reason);
  }

  const sinceSubmission = now.getTime() - task.submittedAt.getTime();
  if (sinceSubmission >= settings.generationDeadlineMilliseconds) {
    return failTask(
      ports,
      lease,
      "deadline_passed",
      `still running after ${settings.generationDeadlineMilliseconds} ms`,
    );
  }
  return new Date(now.getTime() + provider.nextPollMilliseconds(task.upstreamTaskId, sinceSubmission));
};

const failTask = async (
  ports: Ports,
  lease: Lease<SubmittedTask>,
  reason: FailureReason,
  detail: string,
): Promise<undefined> => {
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
