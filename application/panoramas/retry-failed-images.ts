import { retry } from "../../domain/storage-status.js";
import { withImage } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import type { Clock } from "../ports/clock.js";
import type { TaskStore } from "../ports/task-store.js";

const PAGE_SIZE = 100;

type Ports = { readonly tasks: Pick<TaskStore, "listFailedImages" | "move">; readonly clock: Pick<Clock, "now"> };

/**
 * The operator's retry of every finished image, of all accounts, whose storage status is `failed`; it becomes
 * `uploading`. Resolves to the number of images.
 */
export const retryFailedImages =
  ({ tasks, clock }: Ports) =>
  async (): Promise<number> => {
    let retried = 0;
    for (let before: TaskId | undefined; ; ) {
      const failed = await tasks.listFailedImages(PAGE_SIZE, before);
      for (const task of failed) {
        const image = retry(task.image);
        if (image.isErr()) continue;
        const moved = await tasks.move(task, withImage(task, image.value), clock.now());
        if (moved.isOk()) retried += 1; // otherwise its owner has deleted it, or another command has retried it
      }
      if (failed.length < PAGE_SIZE) return retried;
      before = failed.at(-1)?.id;
    }
  };
