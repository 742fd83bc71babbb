import type { Task } from "../../domain/task.js";

/** Each new generation counts for this part of the average. */
const WEIGHT = 0.2;

/** How long generations took lately. */
export type GenerationTime = {
  /** Call with every task that ends on this instance. */
  add(task: Task): void;
  /** How long generations have taken lately, in milliseconds; `undefined` until one has succeeded. */
  lately(): number | undefined;
};

/**
 * A moving average of the times from submission to success, of the tasks that end on this instance: for the estimate
 * how long the queue takes (domain/queue.ts). Failed generations do not count, because they may end at once.
 */
export const generationTime = (): GenerationTime => {
  let average: number | undefined;
  return {
    add(task) {
      if (task.state !== "succeeded") return;
      const milliseconds = task.succeededAt.getTime() - task.submittedAt.getTime();
      average = average === undefined ? milliseconds : average + WEIGHT * (milliseconds - average);
    },
    lately: () => average,
  };
};
