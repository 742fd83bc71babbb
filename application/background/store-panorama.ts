import { err, ok, type Result } from "neverthrow";
import { thumbnailNameOf } from "../../domain/images/object-name.js";
import {
  expire,
  failAttempt,
  giveUp,
  isPermanent,
  keep,
  keepRetryAfterSeconds,
  keepWithoutThumbnail,
  objectsOf,
  type StoredImage,
  storageRetryAfterSeconds,
  type UploadingImage,
  waitForStorage,
} from "../../domain/images/storage-status.js";
import { type SucceededTask, withImage } from "../../domain/tasks/task.js";
import { moveTask } from "../panoramas/end-task.js";
import type { GeneratedImage } from "../ports/generation-provider.js";
import type { Lease } from "../ports/stores/tasks/task-store.js";
import { eraseCopy } from "./erase.js";
import type { TaskWorkPorts } from "./work-on-leases.js";

/** Maximum pause between attempts to store an image. */
export const STORE_PAUSE_MILLISECONDS_MAX = 10 * 60 * 1000;

/** Interval and total time of the retries for a missing thumbnail. */
const THUMBNAIL_RETRY_MILLISECONDS = STORE_PAUSE_MILLISECONDS_MAX;
const THUMBNAIL_GIVE_UP_MILLISECONDS = 24 * 60 * 60 * 1000;

/** Pause between attempts to rename stored files; their number is not limited. */
const RENAME_RETRY_MILLISECONDS = 60 * 1000;

/** Result of an attempt: the image, a text for the log, and whether only the permanent storage failed. */
export type Attempt = { readonly image: StoredImage; readonly detail: string; readonly isStorageUnavailable?: boolean };

/** Records the image after an attempt. An attempt that throws counts as failed, so that it is not repeated for ever. */
export async function recordAttempt(
  ports: TaskWorkPorts,
  lease: Lease<SucceededTask>,
  attempt: Promise<Attempt>,
): Promise<void> {
  const { clock, reporter } = ports;
  const { task } = lease;
  const {
    image,
    detail,
    isStorageUnavailable = false,
  } = await attempt.catch((error: unknown): Attempt => {
    reporter.report({ kind: "work_failed", work: "store", taskId: task.id, error });
    const next = task.image.status === "uploading" ? failAttempt(task.image) : task.image;
    return { image: next, detail: "the attempt threw an error" };
  });
  const next = withImage(task, image);
  const moved = await moveTask(ports, lease, next, nextAttempt(next, isStorageUnavailable, clock.now()));
  if (moved.isErr()) return deleteIfUnwanted(ports, task); // another worker holds the lease now; its result counts
  reporter.report({ kind: "image_status", taskId: task.id, status: image.status, detail });
  const isSaved = task.image.status === "uploading" && isPermanent(image);
  if (isSaved && ports.provider.discardsSaved === true) await eraseCopy(ports, task);
}

/** Deletes objects that a paused worker stored after the panorama was deleted or renamed, or had expired. */
async function deleteIfUnwanted({ tasks, storage }: TaskWorkPorts, { id, image }: SucceededTask): Promise<void> {
  const stored = await tasks.wantedImage(id);
  const wanted = stored && objectsOf(stored);
  for (const name of objectsOf(image)) if (!wanted?.includes(name)) await storage.delete(name);
}

/** A task with an image that is not stored yet. */
export type Uploading = { readonly task: SucceededTask; readonly image: UploadingImage };

/** What a provider says of the storing of its image. */
type Downloaded = Pick<GeneratedImage, "thumbnail" | "ends">;

/** Stores an encoded panorama and its thumbnail. `downloaded`: the image that the panorama was made from. */
export async function storePanorama(
  ports: TaskWorkPorts,
  { task, image }: Uploading,
  panorama: Uint8Array,
  { thumbnail, ends }: Downloaded,
): Promise<Attempt> {
  if (ends !== undefined) {
    return { image: ends === "expired" ? expire(image) : giveUp(image), detail: `the provider's sandbox: ${ends}` };
  }
  const stored = await ports.storage.put(image.imageName, panorama, "image/jpeg");
  if (stored.isErr()) {
    return { image: waitForStorage(image), detail: stored.error.reason, isStorageUnavailable: true };
  }

  const withoutThumbnail = (detail: string): Attempt => ({
    image: keepWithoutThumbnail(image),
    detail,
  });
  if (thumbnail === "unavailable") return withoutThumbnail("the provider's sandbox simulates a thumbnail failure");
  const made = await storeThumbnail(ports, task, panorama);
  return made.isErr() ? withoutThumbnail(made.error) : { image: keep(image), detail: "stored" };
}

/** Makes and stores the thumbnail of a stored image. */
export async function storeThumbnail(
  ports: TaskWorkPorts,
  task: SucceededTask,
  panorama: Uint8Array,
): Promise<Result<void, string>> {
  const { storage, imaging } = ports;
  const { imageName } = task.image;
  const thumbnail = await imaging.thumbnail(panorama);
  if (thumbnail.isErr()) return err(thumbnail.error.reason);
  const stored = await storage.put(thumbnailNameOf(imageName), thumbnail.value, "image/webp");
  return stored.isErr() ? err(stored.error.reason) : ok(undefined);
}

function nextAttempt(
  { image, succeededAt }: SucceededTask,
  isStorageUnavailable: boolean,
  now: Date,
): Date | undefined {
  if (isPermanent(image) && image.nextName !== undefined) return new Date(now.getTime() + RENAME_RETRY_MILLISECONDS);
  const sinceSuccess = now.getTime() - succeededAt.getTime();
  if (image.status === "uploading") {
    const pause = isStorageUnavailable ? storageRetryAfterSeconds(sinceSuccess / 1000) : keepRetryAfterSeconds(image);
    return new Date(now.getTime() + pause * 1000);
  }
  if (image.status === "saved-no-thumb" && sinceSuccess < THUMBNAIL_GIVE_UP_MILLISECONDS) {
    return new Date(now.getTime() + THUMBNAIL_RETRY_MILLISECONDS);
  }
  return undefined;
}

/**
 * Circuit breaker for the storage, whose timeouts take long. After a failed attempt, makes one attempt at a time until
 * one succeeds; other images stay `uploading` meanwhile.
 */
export function storageProbe(ports: TaskWorkPorts) {
  let isDown = false;
  let storing = 0;
  return {
    async store({ task, image }: Uploading, panorama: Uint8Array, downloaded: Downloaded): Promise<Attempt> {
      if (isDown && storing > 0) {
        const detail = "the storage did not answer lately";
        return { image: waitForStorage(image), detail, isStorageUnavailable: true };
      }
      storing += 1;
      try {
        const attempt = await storePanorama(ports, { task, image }, panorama, downloaded);
        isDown = attempt.isStorageUnavailable === true;
        return attempt;
      } finally {
        storing -= 1;
      }
    },
  };
}

export type StorageProbe = ReturnType<typeof storageProbe>;
