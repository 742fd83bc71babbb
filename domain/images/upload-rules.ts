import { err, ok, type Result } from "neverthrow";
import { type BrokenRule, type InvalidRequest, invalidRequest, WHOLE_BODY } from "../invalid-request.js";
import { IMAGE_TYPES, type ImageType, imageTypeOf } from "./image-type.js";

const MIB = 1024 * 1024;

/** Limits of `POST /images`. */
export type UploadLimits = {
  readonly filesMax: number;
  /** The largest file. */
  readonly fileBytesMax: number;
  /** The most bytes of all files of one request. */
  readonly totalBytesMax: number;
  /** The largest request body, with the parts around the files. */
  readonly requestBytesMax: number;
};

/** Those of the specification (Limits). */
export const UPLOAD_LIMITS: UploadLimits = {
  filesMax: 5,
  fileBytesMax: 10 * MIB,
  totalBytesMax: 20 * MIB,
  requestBytesMax: 25 * MIB,
};

/** Bytes of each file of one upload that have arrived so far. */
export type UploadSizes = readonly number[];

/** Refuses a request body that is too large. */
export const admitRequestSize = (
  bytes: number,
  { requestBytesMax: max }: UploadLimits,
): Result<void, InvalidRequest> =>
  bytes <= max ? ok(undefined) : err(invalidRequest(WHOLE_BODY, { name: "bytes_max", max }));

/** Checked while the files arrive, so that an upload that breaks a limit is refused before all of it is read. */
export const admitSizes = (
  sizes: UploadSizes,
  { filesMax, fileBytesMax, totalBytesMax }: UploadLimits,
): Result<void, InvalidRequest> => {
  if (sizes.length > filesMax) return refuse({ name: "files_max", max: filesMax });
  const tooLarge = sizes.findIndex((bytes) => bytes > fileBytesMax);
  if (tooLarge !== -1) return refuse({ name: "bytes_max", max: fileBytesMax }, tooLarge);
  return sizes.reduce((sum, bytes) => sum + bytes, 0) > totalBytesMax
    ? refuse({ name: "total_bytes_max", max: totalBytesMax })
    : ok(undefined);
};

/** Refuses a request without files. */
export const requireFiles = (count: number, { filesMax: max }: UploadLimits): Result<void, InvalidRequest> =>
  count > 0 ? ok(undefined) : refuse({ name: "files_required", max });

/**
 * The type of one file by its first bytes, if this type is allowed and is the declared one.
 * `application/octet-stream`, an empty type and no type at all declare nothing.
 */
export const admitType = (
  index: number,
  firstBytes: Uint8Array,
  declaredType: string | undefined,
): Result<ImageType, InvalidRequest> => {
  const type = imageTypeOf(firstBytes);
  if (type === undefined) return refuse({ name: "image_type", allowed: IMAGE_TYPES }, index);
  const declared = (declaredType ?? "").replace(/;.*/s, "").trim().toLowerCase();
  // Some clients call JPEG by the extension of its files.
  const named = declared === "image/jpg" ? "image/jpeg" : declared;
  return named === type || declared === "" || declared === "application/octet-stream"
    ? ok(type)
    : refuse({ name: "declared_type", declared, actual: type }, index);
};

const refuse = (rule: BrokenRule, index?: number) => err(invalidRequest("files", rule, index));
