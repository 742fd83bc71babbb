import type { AccountId } from "../../domain/account.js";
import type { Task } from "../../domain/task.js";
import type { TaskFilter } from "../../domain/task-filter.js";
import type { TaskId } from "../../domain/task-id.js";
import { pageOf } from "../page-of.js";
import type { TaskStore } from "../ports/task-store.js";

/** `next`: pass it as `before` to read the next page; `undefined` on the last page. */
export type TaskPage = { readonly tasks: readonly Task[]; readonly next: TaskId | undefined };

/** What `listTasks` returns. */
export type ListTasks = ReturnType<typeof listTasks>;

/** `GET /panoramas`: the account's tasks that match the filter, newest first, `limit` at a time. */
export const listTasks =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "list"> }) =>
  async (owner: AccountId, limit: number, before?: TaskId, filter?: TaskFilter): Promise<TaskPage> => {
    const { items, last } = pageOf(await tasks.list(owner, limit + 1, before, filter), limit);
    return { tasks: items, next: last?.id };
  };
