import { err, ok, type Result } from "neverthrow";
import { IMAGE_PIXELS_MAX, type ImageType, imageTypeOf } from "../../../../domain/images/image-type.js";
import { sizeOfImage } from "../../../system/image-header.js";
import { decoding } from "../../../system/load-sharp.js";

/** The smallest limit that a model of fal states for a picture. */
const BYTES_MAX = 10 * 1024 * 1024;
/** 16 megapixels at most: the smallest limit of pixels, that of FLUX.3. */
const EDGE_PIXELS_MAX = 4000;

export type Reference = { readonly type: ImageType; readonly bytes: Uint8Array };

/**
 * A reference image as it is, or, above `bytesMax` or 4000 pixels at an edge, as a smaller JPEG of the same picture.
 * The error is a reason for the log.
 */
export const smallerReference = async (bytes: Uint8Array, bytesMax = BYTES_MAX): Promise<Result<Reference, string>> => {
  const type = imageTypeOf(bytes);
  if (type === undefined) return err("a reference image is not a JPEG, PNG or WebP");
  const size = await sizeOfImage(bytes);
  if (size.isErr()) return err(`a reference image: ${size.error}`);
  const edge = Math.max(size.value.widthPixels, size.value.heightPixels);
  if (bytes.length <= bytesMax && edge <= EDGE_PIXELS_MAX) return ok({ type, bytes });
  try {
    const smaller = await decoding((sharp) =>
      sharp(bytes, { limitInputPixels: IMAGE_PIXELS_MAX })
        .rotate()
        .flatten({ background: "white" })
        .resize({ width: EDGE_PIXELS_MAX, height: EDGE_PIXELS_MAX, fit: "inside", withoutEnlargement: true })
        .jpeg({ quality: 90 })
        .toBuffer(),
    );
    return ok({ type: "image/jpeg", bytes: smaller });
  } catch {
    return err("a reference image cannot be decoded");
  }
};
