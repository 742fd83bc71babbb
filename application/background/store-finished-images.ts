import { type ObjectName, thumbnailNameOf } from "../../domain/images/object-name.js";
import { RESOLUTIONS } from "../../domain/images/resolution.js";
import {
  addThumbnail,
  expire,
  failAttempt,
  giveUp,
  isPermanent,
  type PermanentImage,
  type SavedWithoutThumbnail,
  takeNextName,
  type UploadingImage,
} from "../../domain/images/storage-status.js";
import type { SucceededTask } from "../../domain/tasks/task.js";
import { sourceTypeOf } from "../ports/generation-provider.js";
import type { Lease } from "../ports/stores/tasks/task-store.js";
import { type Attempt, recordAttempt, storePanorama, storeThumbnail } from "./store-panorama.js";
import { type TaskWorkPorts, type WorkLimits, workOnLeases } from "./work-on-leases.js";

/**
 * Stores images that were not stored right after their check (check-generated-images.ts): the storage was down, or the
 * process was killed. Downloads an image again, converts it, makes a thumbnail and stores both. While the permanent
 * storage is down, repeats this until the temporary URL expires. Also renames the files of hidden panoramas
 * (`renameFiles`). Resolves to the number of images processed.
 */
export function storeFinishedImages(ports: TaskWorkPorts, limits: WorkLimits, stopping?: AbortSignal): Promise<number> {
  return workOnLeases(ports, "store", { ...limits, stopping }, (lease) => storeImage(ports, lease));
}

async function storeImage(ports: TaskWorkPorts, lease: Lease<SucceededTask>): Promise<undefined> {
  await recordAttempt(ports, lease, attempt(ports, lease.task));
}

async function attempt(ports: TaskWorkPorts, task: SucceededTask): Promise<Attempt> {
  const { image } = task;
  if (isPermanent(image) && image.nextName !== undefined) return renameFiles(ports, task, image, image.nextName);
  if (image.status === "uploading") return store(ports, task, image);
  if (image.status === "saved-no-thumb") return addMissingThumbnail(ports, task, image);
  return { image, detail: "nothing to do" };
}

async function store(ports: TaskWorkPorts, task: SucceededTask, image: UploadingImage): Promise<Attempt> {
  const { provider, imaging } = ports;
  const downloaded = await provider.download(image.temporaryUrl, task.upstreamTaskId);
  if (downloaded.isErr()) {
    const { kind, reason: detail } = downloaded.error;
    if (kind === "result_gone") return { image: expire(image), detail };
    return { image: kind === "result_unusable" ? giveUp(image) : failAttempt(image), detail };
  }
  const { bytes } = downloaded.value;
  const sourceType = task.sourceType ?? sourceTypeOf(downloaded.value, task.request);
  const panorama = await imaging.panorama(bytes, RESOLUTIONS[task.request.resolution], sourceType);
  if (panorama.isErr()) return { image: giveUp(image), detail: panorama.error.reason };
  return storePanorama(ports, { task, image }, panorama.value.bytes, downloaded.value);
}

async function addMissingThumbnail(
  ports: TaskWorkPorts,
  task: SucceededTask,
  image: SavedWithoutThumbnail,
): Promise<Attempt> {
  const panorama = await ports.storage.read(image.imageName);
  if (panorama.isErr()) return { image, detail: `the stored image cannot be read: ${panorama.error.kind}` };
  const made = await storeThumbnail(ports, task, panorama.value);
  return made.isErr() ? { image, detail: made.error } : { image: addThumbnail(image), detail: "stored" };
}

/**
 * Renames the stored files of a hidden panorama, so that their old URLs stop working, even at a public bucket. Copies,
 * then deletes. May be repeated: a missing source was moved before.
 */
async function renameFiles(
  ports: TaskWorkPorts,
  { id }: SucceededTask,
  image: PermanentImage,
  nextName: ObjectName,
): Promise<Attempt> {
  const reason = await moveObjects(ports, image.imageName, nextName);
  if (reason === undefined) return { image: takeNextName(image), detail: "its files have another name" };
  ports.reporter.report({ kind: "work_failed", work: "store", taskId: id, error: reason });
  return { image, detail: reason };
}

/** Returns the error, or `undefined` on success. */
async function moveObjects(
  { storage }: TaskWorkPorts,
  present: ObjectName,
  next: ObjectName,
): Promise<string | undefined> {
  const files = [
    { from: present, to: next, type: "image/jpeg" },
    { from: thumbnailNameOf(present), to: thumbnailNameOf(next), type: "image/webp" },
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
}
