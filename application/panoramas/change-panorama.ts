import { err, ok, type Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { type IllegalTransition, objectsOf, retry } from "../../domain/images/storage-status.js";
import type { DeletedBy } from "../../domain/tasks/out-of-sight.js";
import { isInProgress, withImage } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import { pageOf } from "../page-of.js";
import type { Clock } from "../ports/clock.js";
import type { ObjectStorage, StorageUnavailable } from "../ports/object-storage.js";
import type { TaskAccess } from "../ports/stores/tasks/task-access.js";
import type { TaskLists } from "../ports/stores/tasks/task-lists.js";
import type { StaleTask, TaskStore } from "../ports/stores/tasks/task-store.js";

type DeletePanoramaPorts = {
  readonly tasks: Pick<TaskStore, "find"> & Pick<TaskAccess, "delete" | "isDeleted">;
  readonly storage: Pick<ObjectStorage, "delete">;
  readonly clock: Pick<Clock, "now">;
};

/** The panorama is still being generated or stored. It can be deleted afterwards. */
type NotFinished = { readonly kind: "not_finished" };

/**
 * Deletes a panorama of the owner, `by` a key or on the web pages: image, thumbnail and task. Its ledger entries
 * remain. Succeeds also if it is already deleted. The objects go first, so that the owner can repeat an interrupted
 * deletion. Background work (background/erase.ts) deletes objects stored meanwhile and the provider's copy.
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
    // Not found: a concurrent call has deleted it.
    await tasks.delete(id, owner, now, by);
    return ok(undefined);
  };

/** Retries storing for the operator: changes the storage status of a finished image from `failed` to `uploading`. */
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
 * Retries storing every finished image, of all accounts, with storage status `failed`; it becomes `uploading`. Resolves
 * to the number of images.
 */
export const retryFailedImages =
  ({ tasks, clock }: RetryFailedImagesPorts) =>
  async (): Promise<number> => {
    let retried = 0;
    for (let before: TaskId | undefined; ; ) {
      const { items, last } = pageOf(await tasks.listFailedImages(PAGE_SIZE + 1, before), PAGE_SIZE);
      for (const task of items) {
        const image = retry(task.image);
        if (image.isErr()) continue;
        const moved = await tasks.move(task, withImage(task, image.value), clock.now());
        if (moved.isOk()) retried += 1; // otherwise its owner has deleted it, or another command has retried it
      }
      if (last === undefined) return retried;
      before = last.id;
    }
  };
