import { err, ok, type Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { objectsOf } from "../../domain/images/storage-status.js";
import type { DeletedBy } from "../../domain/tasks/out-of-sight.js";
import { isInProgress } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { ObjectStorage, StorageUnavailable } from "../ports/object-storage.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

type Ports = {
  readonly tasks: Pick<TaskStore, "find" | "hide" | "isHidden">;
  readonly storage: Pick<ObjectStorage, "delete">;
  readonly clock: Pick<Clock, "now">;
};

/** The panorama is still being generated or stored. It can be deleted afterwards. */
export type NotFinished = { readonly kind: "not_finished" };

/**
 * The owner deletes a panorama, `by` a key or on the pages: its image and thumbnail are deleted, and the task is no
 * longer found. Its ledger entries remain. Succeeds also if it is deleted already. The objects are deleted first, so
 * that the owner can repeat an interrupted deletion. What another worker stores at the same time, and the provider's
 * copy, are deleted afterwards (erase-deleted-panoramas.ts).
 */
export const deletePanorama =
  ({ tasks, storage, clock }: Ports) =>
  async (
    id: TaskId,
    owner: AccountId,
    by?: DeletedBy,
  ): Promise<Result<void, NotFound | NotFinished | StorageUnavailable>> => {
    const task = await tasks.find(id, owner);
    if (task === undefined) {
      return (await tasks.isHidden(id, owner))
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
    await tasks.hide(id, owner, now, by);
    return ok(undefined);
  };
