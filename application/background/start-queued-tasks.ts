import type { ReservedTask } from "../../domain/task.js";
import { type SubmissionPorts, submitTask } from "../panoramas/submit-task.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { TaskStore } from "../ports/task-store.js";
import { waitUpToASecond } from "./wait-up-to-a-second.js";

/**
 * Maximum number of submissions in flight, by readiness. It is low because a provider that becomes busy refuses all of
 * them. While the circuit is probing, one submission shows whether the provider has recovered.
 */
const IN_FLIGHT_MAX = { ready: 4, busy: 0, probing: 1, down: 0 };

type Ports = SubmissionPorts & {
  readonly tasks: Pick<TaskStore, "startQueued">;
  readonly provider: Pick<GenerationProvider, "concurrencyMax" | "readiness">;
};

type Settings = { readonly submissionDeadlineMilliseconds: number };

/**
 * Submits queued tasks while the provider has free slots, round robin over accounts (domain/queue.ts). While the
 * provider is down or paused, they stay queued. A slow submission does not delay the others. Resolves to the number of
 * submitted tasks.
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
      const limit = stopping?.aborted === true ? 0 : IN_FLIGHT_MAX[provider.readiness()] - sending.size;
      const dueAt = new Date(clock.now().getTime() + submissionDeadlineMilliseconds);
      const started = limit <= 0 ? [] : await tasks.startQueued(provider.concurrencyMax, limit, dueAt);
      started.forEach(send);
      sent += started.length;
      if (sending.size === 0) return sent;
      await waitUpToASecond(sending, clock);
    }
  };
