import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskWork } from "../../../application/ports/stores/tasks/task-work.js";
import {
  expire,
  failAttempt,
  giveUp,
  type KeptImage,
  keep,
  keepWithoutThumbnail,
  type UploadingImage,
} from "../../../domain/images/storage-status.js";
import type { TaskId } from "../../../domain/task-id.js";
import { withImage } from "../../../domain/tasks/task.js";
import { noon, secondsAfter, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Which stored images are to be made again, or expire: `listFailedImages`, `listKeptImages`. */
export const describeImages = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { owner, succeeded, kept } = on;
  let tasks: TaskStore & TaskWork & TaskLists;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  it("listFailedImages returns the tasks with a failed image, newest first, page by page", async () => {
    const statuses = [giveUp, giveUp, keep, expire, giveUp, failAttempt, giveUp];
    for (const [n, change] of statuses.entries()) {
      const task = await succeeded(n);
      unwrap(await tasks.move(task, withImage(task, change(task.image as UploadingImage)), undefined));
    }
    unwrap(await tasks.hide(taskId(1), owner, noon));
    const page = async (limit: number, before?: TaskId) =>
      (await tasks.listFailedImages(limit, before)).map(({ id }) => id);
    expect(await page(2)).toEqual([taskId(6), taskId(4)]);
    expect(await page(2, taskId(4))).toEqual([taskId(0)]);
    expect(await page(2, taskId(0))).toEqual([]);
  });

  it("listKeptImages returns the kept images of tasks that succeeded before a time, oldest first", async () => {
    for (const [n, change] of [keep, keepWithoutThumbnail, giveUp, expire, failAttempt, keep, keep].entries()) {
      const task = { ...(await succeeded(n)), succeededAt: secondsAfter(noon, 10 - n) };
      unwrap(await tasks.move(task, withImage(task, change(task.image as UploadingImage)), undefined));
    }
    unwrap(await tasks.hide(taskId(6), owner, noon));
    const oldest = async (seconds: number, limit: number) =>
      (await tasks.listKeptImages(secondsAfter(noon, seconds), limit)).map(({ id }) => id);
    expect(await oldest(11, 9)).toEqual([taskId(5), taskId(1), taskId(0)]);
    expect(await oldest(11, 2)).toEqual([taskId(5), taskId(1)]);
    expect(await oldest(9, 9)).toEqual([taskId(5)]);
  });

  it("a task whose image has expired is due for erase, and not for keep", async () => {
    const task = await kept(1);
    const expired = withImage(task, expire(task.image as KeptImage));
    unwrap(await tasks.move(task, expired, noon));
    expect(await tasks.claim("keep", noon, noon, 9)).toEqual([]);
    expect((await tasks.claim("erase", noon, secondsAfter(noon, 1), 9)).map(({ task }) => task)).toEqual([expired]);
  });
};
