import { TEXTS_KEPT_MILLISECONDS } from "../../domain/tasks/task.js";
import type { Clock } from "../ports/clock.js";
import type { TaskWork } from "../ports/stores/tasks/task-work.js";

const TASKS_PER_STATEMENT = 100;
/** The most of one run, so that many old tasks delay no other work. The next run takes the next ones. */
const STATEMENTS_MAX = 50;

type Ports = { readonly tasks: Pick<TaskWork, "eraseTexts">; readonly clock: Pick<Clock, "now"> };

/**
 * Erases prompt, image URLs and metadata of tasks that failed or were deleted a week ago: nobody pays for them, and
 * nobody needs them any more. Resolves to the number of tasks.
 */
export const eraseTexts =
  ({ tasks, clock }: Ports) =>
  async (stopping?: AbortSignal): Promise<number> => {
    const now = clock.now();
    const before = new Date(now.getTime() - TEXTS_KEPT_MILLISECONDS);
    let all = 0;
    for (let statement = 0; statement < STATEMENTS_MAX && stopping?.aborted !== true; statement += 1) {
      const erased = await tasks.eraseTexts(before, TASKS_PER_STATEMENT, now);
      all += erased;
      if (erased < TASKS_PER_STATEMENT) break;
    }
    return all;
  };
