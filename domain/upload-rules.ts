import { err, ok, type Result } from "neverthrow";
import { IMAGE_TYPES, type ImageType, imageTypeOf } from "./image-type.js";
import { type BrokenRule, type InvalidRequest, invalidRequest, WHOLE_BODY } from "./invalid-request.js";

const MIB = 1024 * 1024;

/** Limits of `POST /images` (specification, Limits). */
export const UPLOAD_FILES_MAX = 5;
/** The largest file. */
export const UPLOAD_FILE_BYTES_MAX = 10 * MIB;
/** The most bytes of all files of one request. */
export const UPLOAD_TOTAL_BYTES_MAX = 20 * MIB;
/** The largest request body, with the parts around the files. */
export const UPLOAD_REQUEST_BYTES_MAX = 25 * MIB;

/** Bytes of each file of one upload that have arrived so far. */
export type UploadSizes = readonly number[];

/** Refuses a request body that is too large. */
export const admitRequestSize = (bytes: number): Result<void, InvalidRequest> =>
  bytes <= UPLOAD_REQUEST_BYTES_MAX
    ? ok(undefined)
    : err(invalidRequest(WHOLE_BODY, { name: "bytes_max", max: UPLOAD_REQUEST_BYTES_MAX }));

/** Checked while the files arrive, so that an upload that breaks a limit is refused before all of it is read. */
export const admitSizes = (sizes: UploadSizes): Result<void, InvalidRequest> => {
  if (sizes.length > UPLOAD_FILES_MAX) return refuse({ name: "files_max", max: UPLOAD_FILES_MAX });
  const tooLarge = sizes.findIndex((bytes) => bytes > UPLOAD_FILE_BYTES_MAX);
  if (tooLarge !== -1) return refuse({ name: "bytes_max", max: UPLOAD_FILE_BYTES_MAX }, tooLarge);
  return sizes.reduce((sum, bytes) => sum + bytes, 0) > UPLOAD_TOTAL_BYTES_MAX
    ? refuse({ name: "total_bytes_max", max: UPLOAD_TOTAL_BYTES_MAX })
    : ok(undefined);
};

/** Refuses a request without files. */
export const requireFiles = (count: number): Result<void, InvalidRequest> =>
  count > 0 ? ok(undefined) : refuse({ name: "files_required", max: UPLOAD_FILES_MAX });

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
  return declared === type || declared === "" || declared === "application/octet-stream"
    ? ok(type)
    : refuse({ name: "declared_type", declared, actual: type }, index);
};

const refuse = (rule: BrokenRule, index?: number) => err(invalidRequest("files", rule, index));
