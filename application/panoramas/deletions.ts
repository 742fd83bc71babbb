import { err, ok, type Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { objectsOf } from "../../domain/images/storage-status.js";
import type { DeletedBy } from "../../domain/tasks/out-of-sight.js";
import { isInProgress } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { ApplicationPorts } from "../ports/application-ports.js";
import type { StorageUnavailable } from "../ports/object-storage.js";
import type { TaskAccess } from "../ports/stores/tasks/task-access.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

/** The panorama is still being generated or stored. It can be deleted afterwards. */
type NotFinished = { readonly kind: "not_finished" };

/** Deletion of finished panoramas by their owners. */
export function deletions(
  ports: Pick<ApplicationPorts, "storage" | "clock"> & { readonly tasks: TaskStore & TaskAccess },
) {
  const { tasks, storage, clock } = ports;
  return {
    /**
     * `DELETE /panoramas/{id}`, `by` a key or on the web pages: deletes image, thumbnail and task. Its ledger entries
     * remain. Succeeds also if it is already deleted. The objects go first, so that the owner can repeat an interrupted
     * deletion. Background work (background/erase.ts) deletes objects stored meanwhile and the provider's copy.
     */
    async delete(
      id: TaskId,
      owner: AccountId,
      by?: DeletedBy,
    ): Promise<Result<void, NotFound | NotFinished | StorageUnavailable>> {
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
    },
  };
}
