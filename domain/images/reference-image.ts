import { err, ok, type Result } from "neverthrow";
import type { Credits } from "../credits/credits.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import type { ObjectName } from "./object-name.js";
import type { Prices } from "./resolution.js";

/**
 * An uploaded reference image is `unused` until a creation of the account refers to it. It is `used` while an active or
 * succeeded task refers to it. Unused images expire; a used one is deleted with its last task. A failed task makes its
 * images unused again.
 */

/** Maximum unused bytes of an account: ten uploads of the largest size. */
export const UNUSED_REFERENCE_BYTES_MAX = 200 * 1024 * 1024;

/** Minimum counted bytes per image, so that the maximum also limits the number of small images. */
const COUNTED_BYTES_MIN = 64 * 1024;

/** Counted bytes of a file for the limit of the account. */
export const countedBytes = (sizeBytes: number): number => Math.max(sizeBytes, COUNTED_BYTES_MIN);

/** Input of `admitUpload`. */
export type UploadStanding = {
  readonly credits: Credits;
  readonly hasPaidOrder: boolean;
  /** Counted bytes of the account's unused images. */
  readonly unusedBytes: number;
};

/**
 * Checks that an account may upload: it has a paid order, or credits for the cheapest panorama. `addedBytes`: counted
 * bytes of the upload; 0 to check if the account may upload anything at all.
 */
export const admitUpload = (
  { credits, hasPaidOrder, unusedBytes }: UploadStanding,
  addedBytes: number,
  prices: Prices,
): Result<void, InvalidRequest> => {
  const cheapest = Math.min(...Object.values(prices));
  if (!hasPaidOrder && credits < cheapest) {
    return err(invalidRequest("files", { name: "paid_order_or_credits", credits: cheapest }));
  }
  return unusedBytes + addedBytes <= UNUSED_REFERENCE_BYTES_MAX
    ? ok(undefined)
    : err(invalidRequest("files", { name: "unused_bytes_max", max: UNUSED_REFERENCE_BYTES_MAX, actual: unusedBytes }));
};

/**
 * Refuses a request whose reference image is not stored. `references`: images of this service by the index of their
 * URL; `stored`: existing images.
 */
export const requireStored = (
  references: ReadonlyMap<number, ObjectName>,
  stored: ReadonlySet<ObjectName>,
): Result<void, InvalidRequest> => {
  for (const [index, name] of references) {
    if (!stored.has(name)) return err(invalidRequest("image_urls", { name: "missing_image" }, index));
  }
  return ok(undefined);
};
