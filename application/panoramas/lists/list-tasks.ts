import type { AccountId } from "../../../domain/ids.js";
import type { Task } from "../../../domain/tasks/task.js";
import type { TaskFilter } from "../../../domain/tasks/task-filter.js";
import { directionOf, type PageStart, type PagesBeside, pageOf, pagesBeside } from "../../page-of.js";
import type { TaskLists } from "../../ports/stores/tasks/task-lists.js";

/** `next`: pass it as `before` to read the next page; `newer`: as `after`; `undefined` if there is none. */
export type TaskPage = PagesBeside & { readonly tasks: readonly Task[] };

/** What the owner reads of the own tasks. */
export type TaskRange = PageStart & { readonly filter?: TaskFilter | undefined };

/** `GET /panoramas`: the account's tasks that match the filter, newest first, `limit` at a time. */
export const listTasks =
  ({ tasks }: { readonly tasks: Pick<TaskLists, "list"> }) =>
  async (owner: AccountId, limit: number, { before, after, filter }: TaskRange = {}): Promise<TaskPage> => {
    const [first, beyond] = directionOf(before, after, "newest");
    const { items, last } = pageOf(await tasks.list(owner, limit + 1, beyond, { filter, first }), limit);
    return {
      tasks: first === "newest" ? items : items.toReversed(),
      ...pagesBeside(first, beyond, items[0]?.id, last?.id),
    };
  };
