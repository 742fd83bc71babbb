import { err, type Result } from "neverthrow";
import { type ObjectName, thumbnailNameOf } from "../../domain/images/object-name.js";
import { isKept } from "../../domain/images/storage-status.js";
import type { Task } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { ObjectStorage, StorageUnavailable } from "../ports/object-storage.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

type Ports = {
  readonly operators: Pick<OperatorStore, "record" | "account">;
  readonly tasks: Pick<TaskStore, "restore">;
  readonly storage: Pick<ObjectStorage, "has">;
  readonly clock: Pick<Clock, "now">;
};

/** The storage has no such object: the operator brings it back first. */
export type ObjectIsGone = { readonly kind: "object_is_gone"; readonly name: ObjectName };

/**
 * For the operator: a panorama that was deleted is there again, private, if its image is in the storage again. What
 * belongs to a closed account stays deleted.
 */
export const restorePanorama =
  ({ operators, tasks, storage, clock }: Ports) =>
  async (slugOrId: string): Promise<Result<Task, NotFound | ObjectIsGone | StorageUnavailable>> => {
    const record = await operators.record(slugOrId);
    const refused = notFound(`There is no deleted panorama ${slugOrId} whose image was kept.`);
    if (record?.deleted === undefined || record.task.state !== "succeeded") return err(refused);
    const { id, accountId, image } = record.task;
    if (!isKept(image)) return err(refused);
    if ((await operators.account(accountId))?.closedAt !== undefined) {
      return err(notFound(`The account of ${slugOrId} is closed, so it stays deleted.`));
    }
    const [hasImage, hasThumbnail] = [
      await storage.has(image.imageName),
      await storage.has(thumbnailNameOf(image.imageName)),
    ];
    if (hasImage.isErr()) return err(hasImage.error);
    if (hasThumbnail.isErr()) return err(hasThumbnail.error);
    if (!hasImage.value) return err({ kind: "object_is_gone", name: image.imageName });
    const restored = await tasks.restore(id, hasThumbnail.value, clock.now());
    return restored
      .map(() => record.task)
      .mapErr(() => notFound(`${slugOrId} is being erased now. Try again in a minute.`));
  };
