import { resultUrlOf } from "../../domain/result-url.js";
import { finish, type SubmittedTask } from "../../domain/task.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { Lease } from "../ports/task-store.js";
import {
  attemptBeforeDeadline,
  type DeadlinePorts,
  type DeadlineSettings,
  failTask,
  moveAndAnnounce,
  type NotYet,
} from "./generation-deadline.js";
import { workOnLeases } from "./work-on-leases.js";

type Ports = DeadlinePorts & {
  readonly provider: Pick<GenerationProvider, "poll" | "readiness" | "nextPollMilliseconds">;
};

/**
 * Polls the provider for every submitted task that is due. A task with a result is `generated`, and the result due to be
 * checked (check-generated-images.ts); a failed one is refunded. After the generation deadline the task is polled once
 * more: if it still runs, or if this throws, it fails and is refunded. Resolves to the number of polls.
 */
export const settleSubmittedTasks =
  (ports: Ports, settings: DeadlineSettings) =>
  (stopping?: AbortSignal): Promise<number> =>
    workOnLeases(
      ports,
      "settle",
      settings,
      (claimed) =>
        attemptBeforeDeadline(ports, "settle", settings, claimed, (lease, sinceSubmissionMilliseconds) =>
          poll(ports, lease, sinceSubmissionMilliseconds),
        ),
      stopping,
    );

/** Polls once, and moves the task on if the provider has ended the generation. */
const poll = async (
  ports: Ports,
  lease: Lease<SubmittedTask>,
  sinceSubmissionMilliseconds: number,
): Promise<NotYet | undefined> => {
  const { provider, clock, reporter } = ports;
  const { task } = lease;
  const stillRunning = (): NotYet => ({
    detail: "still running",
    pauseMilliseconds: provider.nextPollMilliseconds(task.upstreamTaskId, sinceSubmissionMilliseconds),
  });
  const progress = await provider.poll(task.upstreamTaskId);
  if (progress.isErr()) {
    // The circuit breaker has reported the outage; a report for each of thousands of tasks would add nothing.
    if (provider.readiness() !== "down") {
      reporter.report({ kind: "provider_unavailable", taskId: task.id, detail: progress.error.reason });
    }
    return stillRunning();
  }
  if (progress.value.state === "running") return stillRunning();
  if (progress.value.state === "failed") {
    await failTask(ports, lease, "generation_failed", progress.value.reason);
    return undefined;
  }
  const temporaryUrl = resultUrlOf(progress.value.temporaryUrl);
  if (temporaryUrl === undefined) {
    await failTask(ports, lease, "generation_failed", "the provider's result is not a URL that can be downloaded");
    return undefined;
  }
  await moveAndAnnounce(ports, lease, finish(task, temporaryUrl), clock.now());
  return undefined;
};
