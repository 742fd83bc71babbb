import { err, ok, type Result } from "neverthrow";

/** Maximum of `processing` tasks per account, across all its keys (specification, Limits). */
export const ACTIVE_TASKS_MAX = 5;

export type TooManyActiveTasks = { readonly kind: "too_many_active_tasks"; readonly limit: number };

/** Returns the number of active tasks with one more admitted. */
export const admitTask = (activeTasks: number): Result<number, TooManyActiveTasks> =>
  activeTasks < ACTIVE_TASKS_MAX
    ? ok(activeTasks + 1)
    : err({ kind: "too_many_active_tasks", limit: ACTIVE_TASKS_MAX });
