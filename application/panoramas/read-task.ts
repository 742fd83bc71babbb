import { err, ok, type Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { Task } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

type Ports = { readonly tasks: Pick<TaskStore, "find"> };

/** `GET /panoramas/{id}`. A task of another account and an unknown id both give `not_found`. */
export const readTask =
  ({ tasks }: Ports) =>
  async (id: TaskId, owner: AccountId): Promise<Result<Task, NotFound>> => {
    const task = await tasks.find(id, owner);
    return task === undefined ? err(notFound(`There is no task ${id} on this account.`)) : ok(task);
  };
