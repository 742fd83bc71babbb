import { err, ok, type Result } from "neverthrow";
import { IMAGE_TYPES, type ImageType, imageTypeOf } from "./image-type.js";
import { type InvalidRequest, invalidRequest, shown } from "./invalid-request.js";

const MIB = 1024 * 1024;

/** Limits of `POST /images` (specification, Limits). */
export const UPLOAD_FILES_MAX = 5;
export const UPLOAD_FILE_BYTES_MAX = 10 * MIB;
export const UPLOAD_TOTAL_BYTES_MAX = 20 * MIB;
export const UPLOAD_REQUEST_BYTES_MAX = 25 * MIB;

/** The files of one upload so far, in bytes each. */
export type UploadSizes = readonly number[];

export const admitRequestSize = (bytes: number): Result<void, InvalidRequest> =>
  bytes <= UPLOAD_REQUEST_BYTES_MAX
    ? ok(undefined)
    : err(invalidRequest(`request body: must have at most ${mebibytes(UPLOAD_REQUEST_BYTES_MAX)}.`));

/** Checked while the files come in: an upload that breaks a limit is refused before it is read to its end. */
export const admitSizes = (sizes: UploadSizes): Result<void, InvalidRequest> => {
  if (sizes.length > UPLOAD_FILES_MAX) {
    return err(invalidRequest(`files: must be at most ${UPLOAD_FILES_MAX} files in one request.`));
  }
  const tooLarge = sizes.findIndex((bytes) => bytes > UPLOAD_FILE_BYTES_MAX);
  if (tooLarge !== -1) {
    return err(invalidRequest(`files[${tooLarge}]: must have at most ${mebibytes(UPLOAD_FILE_BYTES_MAX)}.`));
  }
  return sizes.reduce((sum, bytes) => sum + bytes, 0) > UPLOAD_TOTAL_BYTES_MAX
    ? err(invalidRequest(`files: must have at most ${mebibytes(UPLOAD_TOTAL_BYTES_MAX)} in total.`))
    : ok(undefined);
};

export const requireFiles = (count: number): Result<void, InvalidRequest> =>
  count > 0
    ? ok(undefined)
    : err(invalidRequest("files: is required; send 1 to 5 images as multipart/form-data parts with the name files."));

/**
 * The type of one file: what its first bytes say, if that is allowed and is what the part declares.
 * `application/octet-stream` and no type at all declare nothing.
 */
export const admitType = (
  index: number,
  firstBytes: Uint8Array,
  declaredType: string | undefined,
): Result<ImageType, InvalidRequest> => {
  const type = imageTypeOf(firstBytes);
  if (type === undefined) {
    return err(
      invalidRequest(`files[${index}]: must be one of ${IMAGE_TYPES.join(", ")}; its signature is none of these.`),
    );
  }
  const declared = declaredType?.split(";")[0]?.trim().toLowerCase() ?? "";
  return declared === type || declared === "" || declared === "application/octet-stream"
    ? ok(type)
    : err(invalidRequest(`files[${index}]: is declared as ${shown(declared)}, but its bytes are ${type}.`));
};

const mebibytes = (bytes: number): string => `${bytes / MIB} MiB (${bytes} bytes)`;
