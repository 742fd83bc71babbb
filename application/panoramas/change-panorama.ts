import { err, ok, type Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { type IllegalTransition, objectsOf, retry } from "../../domain/images/storage-status.js";
import type { DeletedBy } from "../../domain/tasks/out-of-sight.js";
import { isInProgress, withImage } from "../../domain/tasks/task.js";
import type { Visibility } from "../../domain/tasks/visibility.js";
import { type NotFound, notFound } from "../errors.js";
import { pageOf } from "../page-of.js";
import type { Clock } from "../ports/clock.js";
import type { ObjectStorage, StorageUnavailable } from "../ports/object-storage.js";
import type { IsHidden, TaskAccess } from "../ports/stores/tasks/task-access.js";
import type { TaskLists } from "../ports/stores/tasks/task-lists.js";
import type { StaleTask, TaskStore } from "../ports/stores/tasks/task-store.js";

/**
 * The owner makes a panorama public or private. Whoever knows the URL of the image may still open it: objects never
 * change, and caches keep them.
 */
export const changeVisibility =
  ({ tasks }: { readonly tasks: Pick<TaskAccess, "setVisibility"> }) =>
  (id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound | IsHidden>> =>
    tasks.setVisibility(id, owner, visibility);

type DeletePanoramaPorts = {
  readonly tasks: Pick<TaskStore, "find"> & Pick<TaskAccess, "delete" | "isDeleted">;
  readonly storage: Pick<ObjectStorage, "delete">;
  readonly clock: Pick<Clock, "now">;
};

/** The panorama is still being generated or stored. It can be deleted afterwards. */
type NotFinished = { readonly kind: "not_finished" };

/**
 * The owner deletes a panorama, `by` a key or on the pages: its image and thumbnail are deleted, and the task is no
 * longer found. Its ledger entries remain. Succeeds also if it is deleted already. The objects are deleted first, so
 * that the owner can repeat an interrupted deletion. What another worker stores at the same time, and the provider's
 * copy, are deleted afterwards (background/erase.ts).
 */
export const deletePanorama =
  ({ tasks, storage, clock }: DeletePanoramaPorts) =>
  async (
    id: TaskId,
    owner: AccountId,
    by?: DeletedBy,
  ): Promise<Result<void, NotFound | NotFinished | StorageUnavailable>> => {
    const task = await tasks.find(id, owner);
    if (task === undefined) {
      return (await tasks.isDeleted(id, owner))
        ? ok(undefined)
        : err(notFound(`There is no task ${id} on this account.`));
    }
    if (isInProgress(task)) return err({ kind: "not_finished" });
    const now = clock.now();
    if (task.state === "succeeded") {
      for (const name of objectsOf(task.image)) {
        const deleted = await storage.delete(name);
        if (deleted.isErr()) return err(deleted.error);
      }
    }
    // If it is not found now, the same deletion was made at the same time.
    await tasks.delete(id, owner, now, by);
    return ok(undefined);
  };

/** The operator's retry: changes the storage status of a finished image from `failed` to `uploading`. */
export const retryImage =
  ({ tasks, clock }: { readonly tasks: Pick<TaskStore, "find" | "move">; readonly clock: Pick<Clock, "now"> }) =>
  async (id: TaskId, owner: AccountId): Promise<Result<void, NotFound | IllegalTransition | StaleTask>> => {
    const task = await tasks.find(id, owner);
    if (task?.state !== "succeeded") return err(notFound(`There is no finished task ${id} on account ${owner}.`));
    const image = retry(task.image);
    return image.isErr() ? err(image.error) : tasks.move(task, withImage(task, image.value), clock.now());
  };

const PAGE_SIZE = 100;

type RetryFailedImagesPorts = {
  readonly tasks: Pick<TaskStore, "move"> & Pick<TaskLists, "listFailedImages">;
  readonly clock: Pick<Clock, "now">;
};

/**
 * The operator's retry of every finished image, of all accounts, whose storage status is `failed`; it becomes
 * `uploading`. Resolves to the number of images.
 */
export const retryFailedImages =
  ({ tasks, clock }: RetryFailedImagesPorts) =>
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
