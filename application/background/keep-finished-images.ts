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
  type UploadingImage,
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

/** A missing thumbnail is tried again this often, for a day. */
const THUMBNAIL_RETRY_MILLISECONDS = 10 * 60 * 1000;
const THUMBNAIL_GIVE_UP_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * Brings every finished image from the provider's temporary URL into permanent storage: download, check, make it
 * exactly the image that was asked for, thumbnail, store. Resolves to the number of images worked on.
 */
export const keepFinishedImages =
  (ports: Ports, pace: WorkLimits) =>
  (stopping?: AbortSignal): Promise<number> =>
    workOnLeases(ports, "keep", pace, (lease) => keepImage(ports, lease), stopping);

/** What became of one attempt, and what there is to say about it. */
type Attempt = { readonly image: StoredImage; readonly detail: string };

const keepImage = async (ports: Ports, lease: Lease<SucceededTask>): Promise<undefined> => {
  const { tasks, clock, signals, reporter } = ports;
  const { task } = lease;
  const { image, detail } = await attempt(ports, task);
  const next = withImage(task, image);
  const moved = await tasks.move(lease, next, nextAttempt(next, clock.now()));
  if (moved.isErr()) return; // a successor holds the lease; what it does counts
  reporter.report({ kind: "image_status", taskId: task.id, status: image.status, detail });
  signals.announce(next);
};

const attempt = async (ports: Ports, task: SucceededTask): Promise<Attempt> => {
  switch (task.image.status) {
    case "uploading":
      return store(ports, task, task.image);
    case "saved-no-thumb":
      return addMissingThumbnail(ports, task.image);
    default:
      return { image: task.image, detail: "nothing to do" };
  }
};

const store = async (ports: Ports, task: SucceededTask, image: UploadingImage): Promise<Attempt> => {
  const { provider, storage, imaging } = ports;
  const again = (detail: string): Attempt => ({ image: failAttempt(image), detail });

  const downloaded = await provider.download(image.temporaryUrl, task.upstreamTaskId);
  if (downloaded.isErr()) {
    const { kind, reason } = downloaded.error;
    return kind === "result_gone" ? { image: expire(image), detail: reason } : again(reason);
  }
  const { bytes, thumbnail } = downloaded.value;
  const panorama = await imaging.panorama(bytes, RESOLUTIONS[task.request.resolution]);
  if (panorama.isErr()) return { image: giveUp(image), detail: panorama.error.reason };
  const stored = await storage.put(image.imageName, panorama.value, "image/jpeg");
  if (stored.isErr()) return again(stored.error.reason);

  const withoutThumbnail = (detail: string): Attempt => ({
    image: keepWithoutThumbnail(image),
    detail,
  });
  if (thumbnail === "unavailable") return withoutThumbnail("the provider's sandbox wants no thumbnail");
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

const nextAttempt = ({ image, succeededAt }: SucceededTask, now: Date): Date | undefined => {
  switch (image.status) {
    case "uploading":
      return new Date(now.getTime() + keepRetryAfterSeconds(image) * 1000);
    case "saved-no-thumb":
      return now.getTime() - succeededAt.getTime() < THUMBNAIL_GIVE_UP_MILLISECONDS
        ? new Date(now.getTime() + THUMBNAIL_RETRY_MILLISECONDS)
        : undefined;
    default:
      return undefined;
  }
};
