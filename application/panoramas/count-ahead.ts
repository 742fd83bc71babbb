import type { Task } from "../../domain/tasks/task.js";
import type { TaskQueue } from "../ports/stores/tasks/task-queue.js";

/** More waiting tasks than this are not counted. */
export const AHEAD_MAX = 100;

/**
 * The number of waiting tasks that start before this one, as the queue is now; more than `AHEAD_MAX` are counted as one
 * more than that. `undefined` for a task that does not wait in the queue.
 */
export const countAhead =
  ({ tasks }: { readonly tasks: Pick<TaskQueue, "countAhead"> }) =>
  async (task: Task): Promise<number | undefined> =>
    task.state === "queued" ? tasks.countAhead(task, AHEAD_MAX + 1) : undefined;
