import { err, ok, type Result } from "neverthrow";
import type { IllegalTransition } from "./illegal-transition.js";
import type { ObjectName } from "./object-name.js";

/**
 * The finished image on its way into permanent storage (specification, `output.storage_status`).
 *
 *                 ┌──keep──▶ saved ◀──────addThumbnail──────┐
 *   uploading ────┼──keepWithoutThumbnail──▶ saved-no-thumb ┘
 *       ▲         ├──giveUp──▶ failed
 *       │         └──expire──▶ expired
 *       └──retry── failed
 *
 * `expired`: the provider's temporary URL was gone before the image was kept.
 * `failed`: the attempts are used up, or the bytes are not the image that was asked for; an operator may retry.
 */
export type StoredImage = UploadingImage | SavedImage | SavedWithoutThumbnail | UnsavedImage | ExpiredImage;

/** `imageName` is chosen once, before the first attempt, so that attempts which die half-way leave no second object. */
type ImageCore = { readonly temporaryUrl: string; readonly imageName: ObjectName };
export type UploadingImage = ImageCore & { readonly status: "uploading"; readonly failedAttempts: number };
export type SavedImage = ImageCore & { readonly status: "saved" };
export type SavedWithoutThumbnail = ImageCore & { readonly status: "saved-no-thumb" };
export type UnsavedImage = ImageCore & { readonly status: "failed" };
export type ExpiredImage = ImageCore & { readonly status: "expired" };

export type StorageStatus = StoredImage["status"];

/** In permanent storage, for good. */
export const isKept = (image: StoredImage): image is SavedImage | SavedWithoutThumbnail =>
  image.status === "saved" || image.status === "saved-no-thumb";

/** Attempts to fetch and store one image before its storage status is `failed`. */
export const KEEP_ATTEMPTS_MAX = 8;

export const uploading = (temporaryUrl: string, imageName: ObjectName): UploadingImage => ({
  status: "uploading",
  temporaryUrl,
  imageName,
  failedAttempts: 0,
});

/** Seconds to wait before the next attempt: 1, 2, 4 … at most 60. */
export const keepRetryAfterSeconds = ({ failedAttempts }: UploadingImage): number =>
  Math.min(60, 2 ** Math.max(0, failedAttempts - 1));

export const keep = (image: StoredImage): Result<SavedImage, IllegalTransition> =>
  image.status === "uploading" ? ok({ ...core(image), status: "saved" }) : illegal(image, "keep");

export const keepWithoutThumbnail = (image: StoredImage): Result<SavedWithoutThumbnail, IllegalTransition> =>
  image.status === "uploading"
    ? ok({ ...core(image), status: "saved-no-thumb" })
    : illegal(image, "keepWithoutThumbnail");

export const addThumbnail = (image: StoredImage): Result<SavedImage, IllegalTransition> =>
  image.status === "saved-no-thumb" ? ok({ ...core(image), status: "saved" }) : illegal(image, "addThumbnail");

/** One attempt went wrong: another may follow (`uploading`), or it was the last one (`failed`). */
export const failAttempt = (image: StoredImage): Result<UploadingImage | UnsavedImage, IllegalTransition> => {
  if (image.status !== "uploading") return illegal(image, "failAttempt");
  const failedAttempts = image.failedAttempts + 1;
  return failedAttempts < KEEP_ATTEMPTS_MAX ? ok({ ...image, failedAttempts }) : giveUp(image);
};

/** No further attempt can help: the bytes are not the image that was asked for. */
export const giveUp = (image: StoredImage): Result<UnsavedImage, IllegalTransition> =>
  image.status === "uploading" ? ok({ ...core(image), status: "failed" }) : illegal(image, "giveUp");

export const expire = (image: StoredImage): Result<ExpiredImage, IllegalTransition> =>
  image.status === "uploading" ? ok({ ...core(image), status: "expired" }) : illegal(image, "expire");

/** An operator has mended what was wrong. */
export const retry = (image: StoredImage): Result<UploadingImage, IllegalTransition> =>
  image.status === "failed" ? ok(uploading(image.temporaryUrl, image.imageName)) : illegal(image, "retry");

const core = ({ temporaryUrl, imageName }: StoredImage): ImageCore => ({ temporaryUrl, imageName });

const illegal = (image: StoredImage, event: string) =>
  err<never, IllegalTransition>({ kind: "illegal_transition", from: image.status, event });
