import type { TaskId } from "../../domain/ids.js";
import { retry } from "../../domain/images/storage-status.js";
import { withImage } from "../../domain/tasks/task.js";
import { pageOf } from "../page-of.js";
import type { Clock } from "../ports/clock.js";
import type { TaskLists } from "../ports/stores/tasks/task-lists.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

const PAGE_SIZE = 100;

type Ports = {
  readonly tasks: Pick<TaskStore, "move"> & Pick<TaskLists, "listFailedImages">;
  readonly clock: Pick<Clock, "now">;
};

/**
 * The operator's retry of every finished image, of all accounts, whose storage status is `failed`; it becomes
 * `uploading`. Resolves to the number of images.
 */
export const retryFailedImages =
  ({ tasks, clock }: Ports) =>
  async (): Promise<number> => {
    let retried = 0;
    for (let before: TaskId | undefined; ; ) {
      const { items, last } = pageOf(await tasks.listFailedImages(PAGE_SIZE + 1, before), PAGE_SIZE);
      for (const task of items) {
        const image = retry(task.image);
        // Stryker disable next-line ConditionalExpression: every one of them has failed, so each can be retried
        if (image.isErr()) continue;
        const moved = await tasks.move(task, withImage(task, image.value), clock.now());
        if (moved.isOk()) retried += 1; // otherwise its owner has deleted it, or another command has retried it
      }
      if (last === undefined) return retried;
      before = last.id;
    }
  };
