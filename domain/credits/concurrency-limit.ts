import { err, ok, type Result } from "neverthrow";

/** The account already has `limit` tasks in processing. */
export type TooManyActiveTasks = { readonly kind: "too_many_active_tasks"; readonly limit: number };

/** Returns the number of active tasks with one more admitted. `max`: the maximum of an account. */
export const admitTask = (activeTasks: number, max: number): Result<number, TooManyActiveTasks> =>
  activeTasks < max ? ok(activeTasks + 1) : err({ kind: "too_many_active_tasks", limit: max });
