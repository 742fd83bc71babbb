import type { Task } from "../../domain/tasks/task.js";

/** Each new generation counts for this part of the average. */
const WEIGHT = 0.2;

/** A task that waits this long for its turn is late; so is a generation, while nothing is known about others. */
const LATE_MILLISECONDS = 10 * 60_000;

/** A generation is late if it takes this many times as long as recent ones, but not within the first minute. */
const LATE_FACTOR = 3;
const LATE_MILLISECONDS_MIN = 60_000;

/** How long generations took lately. */
export type GenerationTime = {
  /** Call with every task that ends on this instance. */
  add(task: Task): void;
  /** How long generations have taken lately, in milliseconds; `undefined` until one has succeeded. */
  lately(): number | undefined;
  /** Whether the task is unfinished and takes longer than usual: in the queue, in generation or in saving. */
  isLate(task: Task, now: Date): boolean;
};

/**
 * A moving average of the times from submission to success, of the tasks that end on this instance: for the estimate of
 * the time in the queue (domain/tasks/queue.ts). Failed generations do not count, because they may end at once.
 */
export const generationTime = (): GenerationTime => {
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
        case "reserved":
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
};
