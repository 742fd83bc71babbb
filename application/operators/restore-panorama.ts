import { err, type Result } from "neverthrow";
import { type ObjectName, thumbnailNameOf } from "../../domain/images/object-name.js";
import { isKept, objectsOf } from "../../domain/images/storage-status.js";
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
 * For the operator: a panorama that was deleted is there again, private, if its image is in the storage: because it is
 * kept for some days (delete-panorama.ts), or was brought back. What belongs to a closed account stays deleted.
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
    const found = new Set<ObjectName>();
    for (const name of objectsOf(image)) {
      const has = await storage.has(name);
      if (has.isErr()) return err(has.error);
      if (has.value) found.add(name);
    }
    // While its files are given another name, each is under one of the two.
    const names = image.nextName === undefined ? [image.imageName] : [image.imageName, image.nextName];
    if (!names.some((name) => found.has(name))) return err({ kind: "object_is_gone", name: image.imageName });
    const hasThumbnail = names.some((name) => found.has(thumbnailNameOf(name)));
    const restored = await tasks.restore(id, hasThumbnail, clock.now());
    return restored
      .map(() => record.task)
      .mapErr(() => notFound(`${slugOrId} is being erased now. Try again in a minute.`));
  };
