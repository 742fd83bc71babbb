import { err, type Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { type IllegalTransition, retry } from "../../domain/images/storage-status.js";
import { withImage } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { StaleTask, TaskStore } from "../ports/stores/tasks/task-store.js";

/** The operator's retry: changes the storage status of a finished image from `failed` to `uploading`. */
export const retryImage =
  ({ tasks, clock }: { readonly tasks: Pick<TaskStore, "find" | "move">; readonly clock: Pick<Clock, "now"> }) =>
  async (id: TaskId, owner: AccountId): Promise<Result<void, NotFound | IllegalTransition | StaleTask>> => {
    const task = await tasks.find(id, owner);
    if (task?.state !== "succeeded") return err(notFound(`There is no finished task ${id} on account ${owner}.`));
    const image = retry(task.image);
    return image.isErr() ? err(image.error) : tasks.move(task, withImage(task, image.value), clock.now());
  };
