import type { Task } from "../../domain/task.js";
import type { TaskStore } from "../ports/task-store.js";

/** What `countAhead` returns. */
export type CountAhead = ReturnType<typeof countAhead>;

/** More waiting tasks than this are not counted. */
export const AHEAD_MAX = 100;

/**
 * The number of waiting tasks that start before this one, as the queue is now; more than `AHEAD_MAX` are counted as one
 * more than that. `undefined` for a task that does not wait in the queue.
 */
export const countAhead =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "countAhead"> }) =>
  async (task: Task): Promise<number | undefined> =>
    task.state === "queued" ? tasks.countAhead(task, AHEAD_MAX + 1) : undefined;
