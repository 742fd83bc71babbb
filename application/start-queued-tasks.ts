import { type SubmissionPorts, submitTask } from "./submit-task.js";

/** Tasks sent at once; while the provider is only tried, one shows whether it is back. */
const BATCH = { ready: 16, busy: 0, probing: 1, down: 0 };

type Settings = { readonly submissionDeadlineMilliseconds: number };

/**
 * Sends waiting tasks to the provider as long as it has free places, round robin over accounts (domain/queue.ts). While
 * the provider is down, or wants to be left alone, they go on waiting. Resolves to the number of tasks sent.
 */
export const startQueuedTasks =
  (ports: SubmissionPorts, { submissionDeadlineMilliseconds }: Settings) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const { tasks, provider, clock, reporter } = ports;
    let sent = 0;
    for (;;) {
      const limit = stopping?.aborted === true ? 0 : BATCH[provider.readiness()];
      const dueAt = new Date(clock.now().getTime() + submissionDeadlineMilliseconds);
      const started = limit === 0 ? [] : await tasks.startQueued(provider.atOnceMax, limit, dueAt);
      if (started.length === 0) return sent;
      await Promise.all(
        started.map((task) =>
          submitTask(ports, task).catch((error: unknown) =>
            reporter.report({ kind: "work_failed", work: "start", taskId: task.id, error }),
          ),
        ),
      );
      sent += started.length;
    }
  };
