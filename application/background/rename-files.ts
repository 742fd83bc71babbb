import { type ObjectName, thumbnailNameOf, tilesNameOf } from "../../domain/images/object-name.js";
import { type KeptImage, takeNextName } from "../../domain/images/storage-status.js";
import type { SucceededTask } from "../../domain/tasks/task.js";
import { type Attempt, type StoragePorts, TILES_TYPE } from "./store-panorama.js";

/**
 * Gives the stored files of a hidden panorama their next name: whoever has the URLs of the present one finds nothing
 * there any more, also in a bucket, which does not ask this service. Copies first, then deletes, and both can be
 * repeated after an interruption: what is not found under the present name was copied and deleted before.
 */
export const renameFiles = async (
  ports: Pick<StoragePorts, "storage" | "reporter">,
  { id }: SucceededTask,
  image: KeptImage,
  nextName: ObjectName,
): Promise<Attempt> => {
  const reason = await moveObjects(ports, image.imageName, nextName);
  if (reason === undefined) return { image: takeNextName(image), detail: "its files have another name" };
  ports.reporter.report({ kind: "work_failed", work: "keep", taskId: id, error: reason });
  return { image, detail: reason };
};

/** Returns why it is not done. */
const moveObjects = async (
  { storage }: Pick<StoragePorts, "storage">,
  present: ObjectName,
  next: ObjectName,
): Promise<string | undefined> => {
  const files = [
    { from: present, to: next, type: "image/jpeg" },
    { from: thumbnailNameOf(present), to: thumbnailNameOf(next), type: "image/webp" },
    { from: tilesNameOf(present), to: tilesNameOf(next), type: TILES_TYPE },
  ];
  for (const { from, to, type } of files) {
    const file = await storage.read(from);
    if (file.isErr()) {
      if (file.error.kind === "not_found") continue;
      return file.error.reason;
    }
    const copied = await storage.put(to, file.value, type);
    if (copied.isErr()) return copied.error.reason;
  }
  for (const { from } of files) {
    const deleted = await storage.delete(from);
    if (deleted.isErr()) return deleted.error.reason;
  }
  return undefined;
};
