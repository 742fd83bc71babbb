import type { TaskAccess } from "../../../application/ports/stores/tasks/task-access.js";
import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskId } from "../../../domain/ids.js";
import { expire, failAttempt, giveUp, keep, type UploadingImage } from "../../../domain/images/storage-status.js";
import { withImage } from "../../../domain/tasks/task.js";
import { noon, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Stored images to create again: `listFailedImages`. */
export const describeImages = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, succeeded } = on;
  let tasks: TaskStore & TaskAccess & TaskLists;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  it("listFailedImages returns the tasks with a failed image, newest first, page by page", async () => {
    const statuses = [giveUp, giveUp, keep, expire, giveUp, failAttempt, giveUp];
    for (const [n, change] of statuses.entries()) {
      const task = await succeeded(n);
      unwrap(await tasks.move(task, withImage(task, change(task.image as UploadingImage)), undefined));
    }
    unwrap(await tasks.delete(taskId(1), owner, noon));
    const page = async (limit: number, before?: TaskId) =>
      (await tasks.listFailedImages(limit, before)).map(({ id }) => id);
    expect(await page(2)).toEqual([taskId(6), taskId(4)]);
    expect(await page(2, taskId(4))).toEqual([taskId(0)]);
    expect(await page(2, taskId(0))).toEqual([]);
  });
};
