import { resultUrlOf } from "../../domain/images/picture.js";
import { isCancelable, isCancelRequested } from "../../domain/tasks/cancel-request.js";
import { type FailureReason, finish, type ImageFault, type SubmittedTask } from "../../domain/tasks/task.js";
import { carryOutCancel, failTask, moveTask, stopGeneration } from "../panoramas/end-task.js";
import type { Lease } from "../ports/stores/tasks/task-store.js";
import { attemptBeforeDeadline, type DeadlineSettings, type NoProgress } from "./generation-deadline.js";
import { type TaskWorkPorts, workOnLeases } from "./work-on-leases.js";

/**
 * Polls the provider for every submitted task that is due. A task with a result becomes `generated`, and its check due
 * (check-generated-images.ts); a failed one is refunded. If the owner requested a cancel, the provider is first asked
 * to stop. After the generation deadline there is one last poll: if the task still runs or the poll throws, the
 * provider is asked to stop, and the task fails and is refunded. Resolves to the number of tasks.
 */
export function pollSubmittedTasks(
  ports: TaskWorkPorts,
  settings: DeadlineSettings,
  stopping?: AbortSignal,
): Promise<number> {
  return workOnLeases(ports, "poll", { ...settings, stopping }, (claimed) =>
    attemptBeforeDeadline<SubmittedTask>(ports, settings, claimed, {
      work: "poll",
      attempt: async (lease, sinceSubmissionMilliseconds) =>
        (await cancelIfRequested(ports, settings, lease)) ? undefined : poll(ports, lease, sinceSubmissionMilliseconds),
      stop: (task) => stopGeneration(ports, task),
    }),
  );
}

/** Cancels the task if its owner asked for it. Resolves to true if the lease is used up. */
async function cancelIfRequested(
  ports: TaskWorkPorts,
  { leaseMilliseconds }: DeadlineSettings,
  lease: Lease<SubmittedTask>,
): Promise<boolean> {
  if (!isCancelRequested(lease.task)) return false;
  const until = () => new Date(ports.clock.now().getTime() + leaseMilliseconds);
  const carriedOut = await carryOutCancel(ports, lease, (refused) =>
    ports.tasks.moveWithinLease(lease, refused, until()),
  );
  return carriedOut.isErr() || carriedOut.value.state === "failed";
}

/** Polls once, and moves the task on if the provider has ended the generation. */
async function poll(
  ports: TaskWorkPorts,
  lease: Lease<SubmittedTask>,
  sinceSubmissionMilliseconds: number,
): Promise<NoProgress | undefined> {
  const { provider, clock, reporter } = ports;
  const { task } = lease;
  const stillRunning = (): NoProgress => ({
    detail: "still running",
    pauseMilliseconds: provider.nextPollMilliseconds(task.upstreamTaskId, sinceSubmissionMilliseconds),
  });
  const progress = await provider.poll(task.upstreamTaskId);
  if (progress.isErr()) {
    // Not reported for each task: the circuit breaker reports the outage once.
    if (provider.readiness() !== "down") {
      reporter.report({ kind: "provider_unavailable", taskId: task.id, detail: progress.error.reason });
    }
    return stillRunning();
  }
  if (progress.value.state === "running") return stillRunning();
  const fails = async (reason: FailureReason, detail: string, fault?: ImageFault): Promise<undefined> => {
    await failTask(ports, lease, { reason, detail, ...fault });
  };
  if (progress.value.state === "failed") {
    // The owner may have requested a cancel since the lease, and so the provider may have stopped it.
    const stored = (await ports.tasks.find(task.id, task.accountId)) ?? task;
    const isCanceled = isCancelable(stored) && stored.cancelRequest !== undefined;
    const { cause = "generation_failed", reason, imageIndex, imageProblem } = progress.value;
    return isCanceled ? fails("canceled", reason) : fails(cause, reason, { imageIndex, imageProblem });
  }
  const temporaryUrl = resultUrlOf(progress.value.temporaryUrl);
  if (temporaryUrl === undefined) {
    return fails("unusable_result", "the provider's result is not a URL that can be downloaded");
  }
  await moveTask(ports, lease, finish(task, temporaryUrl), clock.now());
  return undefined;
}
