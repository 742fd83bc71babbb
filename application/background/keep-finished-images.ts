import { err, ok, type Result } from "neverthrow";
import { thumbnailNameOf } from "../../domain/object-name.js";
import { RESOLUTIONS } from "../../domain/resolution.js";
import {
  addThumbnail,
  expire,
  failAttempt,
  giveUp,
  keep,
  keepRetryAfterSeconds,
  keepWithoutThumbnail,
  type SavedWithoutThumbnail,
  type StoredImage,
  storageRetryAfterSeconds,
  type UploadingImage,
  waitForStorage,
} from "../../domain/storage-status.js";
import { type SucceededTask, withImage } from "../../domain/task.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { Imaging } from "../ports/imaging.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { Lease, TaskStore } from "../ports/task-store.js";
import { type LeasePorts, type WorkLimits, workOnLeases } from "./work-on-leases.js";

type Ports = LeasePorts & {
  readonly tasks: Pick<TaskStore, "move">;
  readonly provider: Pick<GenerationProvider, "download">;
  readonly storage: Pick<ObjectStorage, "put" | "read">;
  readonly imaging: Pick<Imaging, "panorama" | "thumbnail">;
  readonly signals: Pick<TaskSignals, "announce">;
};

/** An image is never due later than this. */
export const KEEP_PAUSE_MILLISECONDS_MAX = 10 * 60 * 1000;

/** Interval and total time of the retries for a missing thumbnail. */
const THUMBNAIL_RETRY_MILLISECONDS = KEEP_PAUSE_MILLISECONDS_MAX;
const THUMBNAIL_GIVE_UP_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * Copies every finished image from the provider's temporary URL to permanent storage: downloads it, checks it, converts
 * it to the requested size, makes a thumbnail and stores both. While the permanent storage is unavailable, it tries again
 * for as long as the temporary URL works. Resolves to the number of images processed.
 */
export const keepFinishedImages =
  (ports: Ports, limits: WorkLimits) =>
  (stopping?: AbortSignal): Promise<number> =>
    workOnLeases(ports, "keep", limits, (lease) => keepImage(ports, lease), stopping);

/** The image after one attempt, a detail for the log, and whether only the permanent storage was missing. */
type Attempt = { readonly image: StoredImage; readonly detail: string; readonly isStorageUnavailable?: boolean };

const keepImage = async (ports: Ports, lease: Lease<SucceededTask>): Promise<undefined> => {
  const { tasks, clock, signals, reporter } = ports;
  const { task } = lease;
  const { image, detail, isStorageUnavailable = false } = await attempt(ports, task);
  const next = withImage(task, image);
  const moved = await tasks.move(lease, next, nextAttempt(next, isStorageUnavailable, clock.now()));
  if (moved.isErr()) return; // another worker holds the lease now; its result counts
  reporter.report({ kind: "image_status", taskId: task.id, status: image.status, detail });
  signals.announce(next);
};

/** An attempt that throws counts as a failed one, so that it is not repeated for ever. */
const attempt = async (ports: Ports, task: SucceededTask): Promise<Attempt> => {
  const { image } = task;
  try {
    if (image.status === "uploading") return await store(ports, task, image);
    if (image.status === "saved-no-thumb") return await addMissingThumbnail(ports, image);
    return { image, detail: "nothing to do" };
  } catch (error) {
    ports.reporter.report({ kind: "work_failed", work: "keep", taskId: task.id, error });
    return { image: image.status === "uploading" ? failAttempt(image) : image, detail: "the attempt threw an error" };
  }
};

const store = async (ports: Ports, task: SucceededTask, image: UploadingImage): Promise<Attempt> => {
  const { provider, storage, imaging } = ports;
  const again = (detail: string): Attempt => ({ image: failAttempt(image), detail });

  const downloaded = await provider.download(image.temporaryUrl, task.upstreamTaskId);
  if (downloaded.isErr()) {
    const { kind, reason } = downloaded.error;
    if (kind === "result_gone") return { image: expire(image), detail: reason };
    return kind === "result_unusable" ? { image: giveUp(image), detail: reason } : again(reason);
  }
  const { bytes, thumbnail } = downloaded.value;
  const panorama = await imaging.panorama(bytes, RESOLUTIONS[task.request.resolution]);
  if (panorama.isErr()) return { image: giveUp(image), detail: panorama.error.reason };
  const stored = await storage.put(image.imageName, panorama.value, "image/jpeg");
  if (stored.isErr()) {
    return { image: waitForStorage(image), detail: stored.error.reason, isStorageUnavailable: true };
  }

  const withoutThumbnail = (detail: string): Attempt => ({
    image: keepWithoutThumbnail(image),
    detail,
  });
  if (thumbnail === "unavailable") return withoutThumbnail("the provider's sandbox simulates a thumbnail failure");
  const made = await storeThumbnail(ports, image, panorama.value);
  return made.isErr() ? withoutThumbnail(made.error) : { image: keep(image), detail: "stored" };
};

const addMissingThumbnail = async (ports: Ports, image: SavedWithoutThumbnail): Promise<Attempt> => {
  const panorama = await ports.storage.read(image.imageName);
  if (panorama.isErr()) return { image, detail: `the stored image cannot be read: ${panorama.error.kind}` };
  const made = await storeThumbnail(ports, image, panorama.value);
  return made.isErr() ? { image, detail: made.error } : { image: addThumbnail(image), detail: "stored" };
};

const storeThumbnail = async (
  { storage, imaging }: Ports,
  { imageName }: StoredImage,
  panorama: Uint8Array,
): Promise<Result<void, string>> => {
  const thumbnail = await imaging.thumbnail(panorama);
  if (thumbnail.isErr()) return err(thumbnail.error.reason);
  const stored = await storage.put(thumbnailNameOf(imageName), thumbnail.value, "image/webp");
  return stored.isErr() ? err(stored.error.reason) : ok(undefined);
};

const nextAttempt = (
  { image, succeededAt }: SucceededTask,
  isStorageUnavailable: boolean,
  now: Date,
): Date | undefined => {
  const sinceSuccess = now.getTime() - succeededAt.getTime();
  switch (image.status) {
    case "uploading": {
      const pause = isStorageUnavailable ? storageRetryAfterSeconds(sinceSuccess / 1000) : keepRetryAfterSeconds(image);
      return new Date(now.getTime() + pause * 1000);
    }
    case "saved-no-thumb":
      return sinceSuccess < THUMBNAIL_GIVE_UP_MILLISECONDS
        ? new Date(now.getTime() + THUMBNAIL_RETRY_MILLISECONDS)
        : undefined;
    default:
      return undefined;
  }
};
