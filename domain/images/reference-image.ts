import { err, ok, type Result } from "neverthrow";
import type { Credits } from "../credits/credits.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import type { ObjectName } from "./object-name.js";
import type { Prices } from "./resolution.js";

/**
 * An uploaded reference image is `unused` until a creation of the account refers to it. It is `used` while a task that
 * is active or has succeeded refers to it. Unused images expire; a used one is deleted with its last task. A failed
 * task makes its images unused again, because it cost nothing.
 */

/** Maximum of unused bytes that an account may store: ten uploads of the largest size. */
export const UNUSED_REFERENCE_BYTES_MAX = 200 * 1024 * 1024;

/** A smaller image counts as this many bytes, so that the maximum also limits their number. */
const COUNTED_BYTES_MIN = 64 * 1024;

/** What a file counts against the limit of the account: small files count as if they were larger. */
export const countedBytes = (sizeBytes: number): number => Math.max(sizeBytes, COUNTED_BYTES_MIN);

/** What decides whether an account may upload. */
export type UploadStanding = {
  readonly credits: Credits;
  readonly hasPaidOrder: boolean;
  /** Counted bytes of the images that the account has uploaded and not used. */
  readonly unusedBytes: number;
};

/**
 * Whether an account may upload: it has a paid order, or credits for the cheapest panorama. `addedBytes`: the counted
 * bytes that the upload would add; 0 asks whether the account may upload anything at all.
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

/** `references`: images of this service by the index of their URL in a creation request; `stored`: those that exist. */
export const requireStored = (
  references: ReadonlyMap<number, ObjectName>,
  stored: ReadonlySet<ObjectName>,
): Result<void, InvalidRequest> => {
  for (const [index, name] of references) {
    if (!stored.has(name)) return err(invalidRequest("image_urls", { name: "missing_image" }, index));
  }
  return ok(undefined);
};
