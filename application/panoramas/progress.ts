import type { Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { type Abilities, ALL_ABILITIES, abilitiesOfAny } from "../../domain/tasks/abilities.js";
import { AHEAD_MAX, estimatedMilliseconds, NO_FORECAST, slotsOf, type TaskForecast } from "../../domain/tasks/queue.js";
import { isActive, type QueuedTask, type Task } from "../../domain/tasks/task.js";
import type { Awaitable } from "../awaitable.js";
import type { NotFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { SubmissionProvider } from "../ports/generation-provider.js";
import type { TaskSignals } from "../ports/signals.js";
import type { TaskQueue } from "../ports/stores/tasks/task-queue.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";
import type { GenerationTime } from "./generation-time.js";
import { readTask } from "./panoramas.js";

type ProgressPorts = {
  readonly tasks: TaskStore & TaskQueue;
  readonly clock: Clock;
  readonly signals: TaskSignals;
  readonly provider: SubmissionProvider;
  readonly generationTime: GenerationTime;
};

/** What a client learns of a task in processing, and of the provider. */
export function progress(ports: ProgressPorts) {
  const { tasks, clock, signals, provider, generationTime } = ports;
  return {
    /**
     * `GET /panoramas/{id}` with `Prefer: wait`. Resolves with the task when it leaves `processing`, after
     * `waitMilliseconds`, or when `signal` is aborted. Reads the store only when a signal arrives and at the end of the
     * wait. Signals about tasks that other instances end: background/watch-changes.ts.
     */
    async waitFor(
      id: TaskId,
      owner: AccountId,
      waitMilliseconds: number,
      signal: AbortSignal,
    ): Promise<Result<Task, NotFound>> {
      const startedAt = clock.now().getTime();
      for (;;) {
        const woken = new AbortController();
        const ended = AbortSignal.any([signal, woken.signal]);
        try {
          // Listens before it reads, so that it does not miss a move between the two.
          const moved = signals.next(id, ended);
          const task = await readTask(tasks, id, owner);
          // A change of the system clock, also backwards, shortens the wait and never extends it.
          const left = waitMilliseconds - Math.abs(clock.now().getTime() - startedAt);
          if (task.isErr() || !isActive(task.value) || left <= 0 || signal.aborted) return task;
          await Promise.race([moved, clock.sleep(left, ended)]);
        } finally {
          woken.abort(); // ends the listener and the timer, also if the store throws
        }
      }
    },

    /**
     * Forecasts a task in processing: its queue position, and its end by the average time of recent generations. Reads
     * the store only for queued tasks, because clients poll all the others too.
     */
    forecast(task: Task): Awaitable<TaskForecast> {
      switch (task.state) {
        case "queued":
          return forecastQueued(ports, task);
        case "submitting":
          return { estimatedSeconds: secondsOf(generationTime.lately()) };
        case "submitted":
        case "generated": {
          const generation = generationTime.lately();
          if (generation === undefined) return NO_FORECAST;
          const elapsed = Math.max(0, clock.now().getTime() - task.submittedAt.getTime());
          return { estimatedSeconds: secondsOf(generation - elapsed) };
        }
        case "succeeded":
        case "failed":
          return NO_FORECAST;
      }
    },

    /** True if the unfinished task takes longer than usual: in the queue, in generation or in saving. */
    isLate(task: Task, now: Date): boolean {
      return generationTime.isLate(task, now);
    },

    /**
     * The combined abilities of all models, including models that are down. Makes no call. May change after a check of
     * a provider, because some providers tell their abilities only then.
     */
    readAbilities(): Abilities {
      const places = provider.places();
      const [first = ALL_ABILITIES, ...others] = places.map(({ abilities = ALL_ABILITIES }) => abilities);
      return abilitiesOfAny([first, ...others]);
    },
  };
}

async function forecastQueued(
  { tasks, provider, generationTime }: ProgressPorts,
  task: QueuedTask,
): Promise<TaskForecast> {
  const ahead = await tasks.countAhead(task, AHEAD_MAX + 1);
  if (ahead > AHEAD_MAX) return { ahead };
  const { callsPerSecond } = provider;
  const generationMilliseconds = generationTime.lately();
  const pace = { concurrencyMax: slotsOf(provider.places()), callsPerSecond, generationMilliseconds };
  return { ahead, estimatedSeconds: secondsOf(estimatedMilliseconds(ahead, pace)) };
}

const secondsOf = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : Math.max(1, Math.round(milliseconds / 1000));
