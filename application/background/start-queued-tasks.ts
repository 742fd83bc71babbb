import type { SubmittingTask } from "../../domain/tasks/task.js";
import { type SubmissionSettings, submitTask } from "../panoramas/submit-task.js";
import { acceptsCreations } from "../ports/generation-provider.js";
import { type TaskWorkPorts, waitUpToASecond } from "./work-on-leases.js";

/**
 * Maximum submissions in flight, by readiness. Low, because a provider that becomes busy rejects all of them. `busy`:
 * the rate limiter sets the pace. `probing`: one submission shows whether the provider has recovered.
 */
const IN_FLIGHT_MAX = { ready: 16, busy: 0, probing: 1, down: 0 };

type StartSettings = SubmissionSettings & { readonly submissionDeadlineMilliseconds: number };

/**
 * Submits queued tasks while places of the provider have free slots, round robin over accounts (domain/tasks/queue.ts).
 * While the provider is down or busy, tasks stay queued. This run stops when the provider answers `busy`. A slow
 * submission does not delay the others. Resolves to the number of submitted tasks.
 */
export async function startQueuedTasks(
  ports: TaskWorkPorts,
  settings: StartSettings,
  stopping?: AbortSignal,
): Promise<number> {
  const { tasks, provider, clock, reporter } = ports;
  const sending = new Set<Promise<void>>();
  let sentBack = false;
  const send = (task: SubmittingTask, submissionDeadline: Date): void => {
    const run = () => submitTask(ports, settings, task, submissionDeadline);
    const ended = (reporter.trace?.("start", task, run) ?? run())
      .then((submitted) => {
        if (submitted.isOk() && submitted.value.state === "queued") sentBack = true;
      })
      .catch((error: unknown) => reporter.report({ kind: "work_failed", work: "start", taskId: task.id, error }))
      .finally(() => sending.delete(ended));
    sending.add(ended);
  };

  let sent = 0;
  for (;;) {
    const limit = stopping?.aborted === true || sentBack ? 0 : IN_FLIGHT_MAX[provider.readiness()] - sending.size;
    const now = clock.now();
    const dueAt = new Date(now.getTime() + settings.submissionDeadlineMilliseconds);
    const places = provider.places().filter(acceptsCreations);
    const started = limit <= 0 ? [] : await tasks.startQueued(places, limit, now, dueAt);
    for (const task of started) send(task, dueAt);
    sent += started.length;
    if (sending.size === 0) return sent;
    await waitUpToASecond(sending, clock);
  }
}
