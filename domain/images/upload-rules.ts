import { err, ok, type Result } from "neverthrow";
import { type BrokenRule, type InvalidRequest, invalidRequest, WHOLE_BODY } from "../invalid-request.js";
import { IMAGE_TYPES, type ImageType, imageTypeOf } from "./image-type.js";

const MIB = 1024 * 1024;

/** Limits of `POST /images`. */
export type UploadLimits = {
  readonly filesMax: number;
  /** Maximum size of a file. */
  readonly fileBytesMax: number;
  /** Maximum size of all files of one request. */
  readonly totalBytesMax: number;
  /** Maximum size of the request body, with the parts around the files. */
  readonly requestBytesMax: number;
};

/** The limits of the specification (Limits). */
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

/** Checks the sizes while the files arrive, so that an upload that breaks a limit is refused early. */
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
 * The type of a file by its first bytes, if it is allowed. The declared type must match, be another name of it, or fit
 * any file.
 */
export const admitType = (
  index: number,
  firstBytes: Uint8Array,
  declaredType = "",
): Result<ImageType, InvalidRequest> => {
  const type = imageTypeOf(firstBytes);
  if (type === undefined) return refuse({ name: "image_type", allowed: IMAGE_TYPES }, index);
  const declared = declaredType.replace(/;.*/s, "").trim().toLowerCase();
  return TYPE_NAMES[type].test(declared) || !/^[\w.+-]+\/[\w.+-]+$/.test(declared) || FITS_ANY_FILE.test(declared)
    ? ok(type)
    : refuse({ name: "declared_type", declared, actual: type }, index);
};

/** Names of these types that browsers and libraries send, now or long ago. */
const TYPE_NAMES: Readonly<Record<ImageType, RegExp>> = {
  "image/jpeg": /^(image|application)\/(x-)?(citrix-)?(p?jpe?g|jpe|jfif|pipeg)$/,
  "image/png": /^(image|application)\/(x-)?(citrix-)?png$/,
  "image/webp": /^(image|application)\/(x-)?webp$/,
};

/**
 * Types sent by clients that do not know the type, or that take the type of the request or of a text (RFC 7578, 4.4).
 */
const FITS_ANY_FILE =
  /\/octet-stream$|^text\/plain$|^multipart\/form-data$|^(application|image|binary)\/(x-)?(binary|unknown|(force-)?download)$/;

const refuse = (rule: BrokenRule, index?: number) => err(invalidRequest("files", rule, index));
