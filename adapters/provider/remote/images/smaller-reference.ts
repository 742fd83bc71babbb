import { err, ok, type Result } from "neverthrow";
import type { ImageType } from "../../../../domain/images/image-type.js";
import { decoding } from "../../../system/load-sharp.js";
import { SMALLER_EDGE_PIXELS, smallerJpeg } from "../../../system/sound-picture.js";
import { soundReference } from "../../sound-reference.js";

/** The smallest limit that a model of fal states for a picture. */
const BYTES_MAX = 10 * 1024 * 1024;

export type Reference = { readonly type: ImageType; readonly bytes: Uint8Array };

/**
 * A reference image as it is, or, if it is damaged, above `bytesMax`, or above 4000 pixels at an edge, as a smaller
 * JPEG of the same picture. The error is a reason for the log.
 */
export const smallerReference = async (bytes: Uint8Array, bytesMax = BYTES_MAX): Promise<Result<Reference, string>> => {
  const sound = await soundReference(bytes);
  if (sound.isErr()) return err(sound.error);
  const { size, ...reference } = sound.value;
  const edge = Math.max(size.widthPixels, size.heightPixels);
  if (reference.bytes.length <= bytesMax && edge <= SMALLER_EDGE_PIXELS) return ok(reference);
  try {
    const smaller = await decoding((sharp) => smallerJpeg(sharp, reference.bytes));
    return ok({ type: "image/jpeg", bytes: smaller.bytes });
  } catch {
    return err("a reference image cannot be decoded");
  }
};
