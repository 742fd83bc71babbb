import type { Task } from "../../domain/tasks/task.js";

/** Weight of a new value in the moving average. */
const WEIGHT = 0.2;

/** A task is late when it has been queued this long; so is a generation while there is no average. */
const LATE_MILLISECONDS = 10 * 60_000;

/** A generation is late if it takes this many times as long as recent ones, but not within the first minute. */
const LATE_FACTOR = 3;
const LATE_MILLISECONDS_MIN = 60_000;

/** The average time of recent generations. */
export type GenerationTime = {
  /** Call with every task that ends on this instance. */
  add(task: Task): void;
  /** Average time of recent generations, in milliseconds; `undefined` until one has succeeded. */
  lately(): number | undefined;
  /** True if the unfinished task takes longer than usual: in the queue, in generation or in saving. */
  isLate(task: Task, now: Date): boolean;
};

/**
 * A moving average of the times from submission to success, of the tasks that end on this instance: for the estimate of
 * the time in the queue (domain/tasks/queue.ts). Failed generations do not count, because they may end at once.
 */
export function generationTime(): GenerationTime {
  let average: number | undefined;
  const lateAfter = (): number =>
    average === undefined ? LATE_MILLISECONDS : Math.max(LATE_MILLISECONDS_MIN, LATE_FACTOR * average);
  return {
    add(task) {
      if (task.state !== "succeeded") return;
      const milliseconds = task.succeededAt.getTime() - task.submittedAt.getTime();
      average = average === undefined ? milliseconds : average + WEIGHT * (milliseconds - average);
    },
    lately: () => average,
    isLate(task, now) {
      const since = (start: Date) => now.getTime() - start.getTime();
      switch (task.state) {
        case "queued":
        case "submitting":
          return since(task.reservedAt) > LATE_MILLISECONDS;
        case "submitted":
        case "generated":
          return since(task.submittedAt) > lateAfter();
        case "succeeded":
          return task.image.status === "uploading" && since(task.succeededAt) > LATE_MILLISECONDS_MIN;
        case "failed":
          return false;
      }
    },
  };
}
