import type { ReservedTask } from "../../domain/task.js";
import { type SubmissionPorts, submitTask } from "../panoramas/submit-task.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { TaskStore } from "../ports/task-store.js";
import { waitUpToASecond } from "./wait-up-to-a-second.js";

/**
 * Submissions under way at once: few, for a provider that is suddenly too busy refuses all of them. While it is only
 * tried, one shows whether it is back.
 */
const AT_ONCE = { ready: 4, busy: 0, probing: 1, down: 0 };

type Ports = SubmissionPorts & {
  readonly tasks: Pick<TaskStore, "startQueued">;
  readonly provider: Pick<GenerationProvider, "concurrencyMax" | "readiness">;
};

type Settings = { readonly submissionDeadlineMilliseconds: number };

/**
 * Sends waiting tasks to the provider as long as it has free places, round robin over accounts (domain/queue.ts). While
 * the provider is down, or wants to be left alone, they go on waiting. A slow submission holds up no other. Resolves to
 * the number of tasks sent.
 */
export const startQueuedTasks =
  (ports: Ports, { submissionDeadlineMilliseconds }: Settings) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const { tasks, provider, clock, reporter } = ports;
    const sending = new Set<Promise<void>>();
    const send = (task: ReservedTask): void => {
      const ended = submitTask(ports, task)
        .then(() => {})
        .catch((error: unknown) => reporter.report({ kind: "work_failed", work: "start", taskId: task.id, error }))
        .finally(() => sending.delete(ended));
      sending.add(ended);
    };

    let sent = 0;
    for (;;) {
      const limit = stopping?.aborted === true ? 0 : AT_ONCE[provider.readiness()] - sending.size;
      const dueAt = new Date(clock.now().getTime() + submissionDeadlineMilliseconds);
      const started = limit <= 0 ? [] : await tasks.startQueued(provider.concurrencyMax, limit, dueAt);
      started.forEach(send);
      sent += started.length;
      if (sending.size === 0) return sent;
      await waitUpToASecond(sending, clock);
    }
  };
