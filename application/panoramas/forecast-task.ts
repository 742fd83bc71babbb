import { estimatedMilliseconds, slotsOf } from "../../domain/tasks/queue.js";
import type { Task } from "../../domain/tasks/task.js";
import type { Awaitable } from "../awaitable.js";
import type { Clock } from "../ports/clock.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { TaskQueue } from "../ports/stores/tasks/task-queue.js";
import { AHEAD_MAX, countAhead } from "./count-ahead.js";
import type { GenerationTime } from "./generation-time.js";

/** What a customer can be told about the rest of a task in processing. */
export type TaskForecast = {
  /** The tasks that start before it, as `countAhead` counts them. `undefined` unless it waits in the queue. */
  readonly ahead?: number | undefined;
  /** Roughly how long it takes until its end, at least 1. `undefined` if that is not known. */
  readonly estimatedSeconds?: number | undefined;
};

type Ports = {
  readonly tasks: Pick<TaskQueue, "countAhead">;
  readonly provider: Pick<GenerationProvider, "places" | "callsPerSecond">;
  readonly generationTime: Pick<GenerationTime, "lately">;
  readonly clock: Pick<Clock, "now">;
};

/** Of a task that has ended. */
export const NO_FORECAST: TaskForecast = {};

/**
 * Says how a task in processing goes on: its place in the queue, and when it ends if generations take as long as
 * lately. Reads the store for a task in the queue only, because clients poll all the others too.
 */
export const forecastTask = (ports: Ports): ((task: Task) => Awaitable<TaskForecast>) => {
  const { provider, generationTime, clock } = ports;
  const count = countAhead(ports);
  const forecastQueued = async (task: Task): Promise<TaskForecast> => {
    const ahead = await count(task);
    const generation = generationTime.lately();
    if (ahead === undefined || ahead > AHEAD_MAX || generation === undefined) return { ahead };
    const { callsPerSecond } = provider;
    const pace = { concurrencyMax: slotsOf(provider.places()), callsPerSecond, generationMilliseconds: generation };
    return { ahead, estimatedSeconds: secondsOf(estimatedMilliseconds(ahead, pace)) };
  };
  return (task) => {
    switch (task.state) {
      case "queued":
        return forecastQueued(task);
      case "reserved":
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
  };
};

const secondsOf = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : Math.max(1, Math.round(milliseconds / 1000));
