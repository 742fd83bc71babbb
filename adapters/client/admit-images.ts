import { err, ok, type Result } from "neverthrow";
import { type ImageType, SIGNATURE_BYTES } from "../../domain/images/image-type.js";
import { admitSizes, admitType, requireFiles, type UploadLimits } from "../../domain/images/upload-rules.js";
import type { BrokenRule, InvalidRequest } from "../../domain/invalid-request.js";
import type { Offer } from "./offer.js";
import type { ReferenceImage } from "./read-images.js";

/** The types of these images by their signatures, if the service would take them. */
export const admitImages = (
  images: readonly ReferenceImage[],
  limits: UploadLimits,
): Result<readonly ImageType[], InvalidRequest> =>
  requireFiles(images.length, limits)
    .andThen(() =>
      admitSizes(
        images.map(({ bytes }) => bytes.length),
        limits,
      ),
    )
    .andThen(() => {
      const types: ImageType[] = [];
      for (const [index, { bytes, type }] of images.entries()) {
        const admitted = admitType(index, bytes.subarray(0, SIGNATURE_BYTES), type);
        if (admitted.isErr()) return err(admitted.error);
        types.push(admitted.value);
      }
      return ok(types);
    });

const SIZE_RULES: readonly BrokenRule["name"][] = ["files_max", "bytes_max", "total_bytes_max"];

/** Whether another service could allow it. */
export const isSizeRule = ({ rule }: InvalidRequest): boolean => SIZE_RULES.includes(rule.name);

/** The limits of a service, as it tells them. */
export const limitsOf = ({ files, file_bytes, total_bytes, request_bytes }: Offer["uploads"]): UploadLimits => ({
  filesMax: files,
  fileBytesMax: file_bytes,
  totalBytesMax: total_bytes,
  requestBytesMax: request_bytes,
});
