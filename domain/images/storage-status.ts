import { err, ok, type Result } from "neverthrow";
import { type ObjectName, thumbnailNameOf } from "./object-name.js";

/**
 * The finished image on its way to permanent storage (specification, `output.storage_status`).
 *
 *                 ┌──keep──▶ saved ◀──────addThumbnail──────┐
 *   uploading ────┼──keepWithoutThumbnail──▶ saved-no-thumb ┘
 *       ▲         ├──giveUp──▶ failed
 *       │         └──expire──▶ expired
 *       └──retry── failed
 *
 * `failAttempt` leads back to `uploading`, or to `failed` after the last attempt. `waitForStorage` stays `uploading`.
 *
 * `expired`: the provider's temporary URL stopped working before the image was stored.
 * `failed`: no attempts are left, or another attempt cannot help; an operator may retry.
 */
export type StoredImage = UploadingImage | SavedImage | SavedWithoutThumbnail | UnsavedImage | ExpiredImage;

/**
 * `imageName`: chosen before the first attempt, so that every attempt writes the same object. `nextName`: target of a
 * rename, recorded before it for the same reason.
 */
type ImageCore = {
  readonly temporaryUrl: string;
  readonly imageName: ObjectName;
  readonly nextName?: ObjectName | undefined;
};
/** The image is not stored yet. */
export type UploadingImage = ImageCore & { readonly status: "uploading"; readonly failedAttempts: number };
/** The image and its thumbnail are stored. */
export type SavedImage = ImageCore & { readonly status: "saved" };
/** The image is stored; its thumbnail is not. */
export type SavedWithoutThumbnail = ImageCore & { readonly status: "saved-no-thumb" };
/** The image could not be stored. An operator may retry. */
export type UnsavedImage = ImageCore & { readonly status: "failed" };
/** The image was gone before it could be stored. */
export type ExpiredImage = ImageCore & { readonly status: "expired" };

/** All storage statuses (specification, Storage status). */
export const STORAGE_STATUSES = ["uploading", "saved", "saved-no-thumb", "failed", "expired"] as const;
/** One of `STORAGE_STATUSES`. */
export type StorageStatus = (typeof STORAGE_STATUSES)[number];

/** An event that the state does not allow; nothing has changed. */
export type IllegalTransition = { readonly kind: "illegal_transition"; readonly from: string; readonly event: string };

/** An image in permanent storage. */
export type PermanentImage = SavedImage | SavedWithoutThumbnail;

/** The image is in permanent storage. */
export const isPermanent = (image: StoredImage): image is PermanentImage =>
  image.status === "saved" || image.status === "saved-no-thumb";

/** All objects that the image may have: itself and its thumbnail, under the present and the next name. */
export const objectsOf = ({ imageName, nextName }: StoredImage): readonly ObjectName[] =>
  [imageName, ...(nextName === undefined ? [] : [nextName])].flatMap((name) => [name, thumbnailNameOf(name)]);

/** Completes a rename: the next name becomes the present one. */
export const takeNextName = (image: PermanentImage): PermanentImage => {
  const { nextName, ...rest } = image;
  return nextName === undefined ? image : { ...rest, imageName: nextName };
};

/** Maximum attempts to fetch an image before its storage status becomes `failed`. */
export const KEEP_ATTEMPTS_MAX = 8;

/** The image of a result that must be stored. */
export const uploading = (temporaryUrl: string, imageName: ObjectName): UploadingImage => ({
  status: "uploading",
  temporaryUrl,
  imageName,
  failedAttempts: 0,
});

/** Seconds until the next attempt: 1, 2, 4 … at most 60. */
export const keepRetryAfterSeconds = ({ failedAttempts }: UploadingImage): number =>
  Math.min(60, 2 ** Math.max(0, failedAttempts - 1));

/** The image and its thumbnail were stored. */
export const keep = (image: UploadingImage): SavedImage => ({ ...core(image), status: "saved" });

/** The image was stored without a thumbnail. */
export const keepWithoutThumbnail = (image: UploadingImage): SavedWithoutThumbnail => ({
  ...core(image),
  status: "saved-no-thumb",
});

/** The thumbnail was stored later. */
export const addThumbnail = (image: SavedWithoutThumbnail): SavedImage => ({ ...image, status: "saved" });

/** Counts one failed attempt: the image stays `uploading` for the next one, or is `failed` after the last one. */
export const failAttempt = (image: UploadingImage): UploadingImage | UnsavedImage => {
  const failedAttempts = image.failedAttempts + 1;
  return failedAttempts < KEEP_ATTEMPTS_MAX ? { ...image, failedAttempts } : giveUp(image);
};

/** The permanent storage is unavailable. This uses up no attempt: the source still works. */
export const waitForStorage = (image: UploadingImage): UploadingImage => ({ ...image, failedAttempts: 0 });

const STORAGE_PAUSE_SECONDS_MAX = 600;

/**
 * Seconds until the next attempt while the permanent storage is unavailable, by the seconds since the success of the
 * task: 1, 2, 4 … at most 600.
 */
export const storageRetryAfterSeconds = (sinceSuccessSeconds: number): number =>
  Math.min(STORAGE_PAUSE_SECONDS_MAX, Math.max(1, sinceSuccessSeconds + 1));

/** Ends the attempts: the bytes are not the requested image, or cannot be downloaded from this URL. */
export const giveUp = (image: UploadingImage): UnsavedImage => ({ ...core(image), status: "failed" });

/** The temporary URL no longer has an image. */
export const expire = (image: UploadingImage): ExpiredImage => ({ ...core(image), status: "expired" });

/** Retries storing, after an operator has fixed the cause. Refused for an image that is not `failed`. */
export const retry = (image: StoredImage): Result<UploadingImage, IllegalTransition> =>
  image.status === "failed"
    ? ok(uploading(image.temporaryUrl, image.imageName))
    : err({ kind: "illegal_transition", from: image.status, event: "retry" });

const core = ({ failedAttempts: _, ...image }: UploadingImage): ImageCore => image;
