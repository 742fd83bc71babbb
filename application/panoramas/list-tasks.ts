import type { AccountId } from "../../domain/account.js";
import type { Task } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import type { TaskStore } from "../ports/task-store.js";

/** `next`: the id to continue before, if there are older tasks. */
export type TaskPage = { readonly tasks: readonly Task[]; readonly next: TaskId | undefined };

export type ListTasks = ReturnType<typeof listTasks>;

/** `GET /panoramas`: the account's tasks, newest first, `limit` at a time. */
export const listTasks =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "list"> }) =>
  async (owner: AccountId, limit: number, before?: TaskId): Promise<TaskPage> => {
    // One more than asked for tells whether there is another page.
    const found = await tasks.list(owner, limit + 1, before);
    const page = found.slice(0, limit);
    return { tasks: page, next: found.length > limit ? page.at(-1)?.id : undefined };
  };
