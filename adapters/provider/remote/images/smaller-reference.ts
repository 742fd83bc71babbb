import { err, ok, type Result } from "neverthrow";
import type { ImageType } from "../../../../domain/images/image-type.js";
import { sizeOfImage } from "../../../system/image-header.js";
import { decoding } from "../../../system/load-sharp.js";
import { SMALLER_EDGE_PIXELS, smallerJpeg } from "../../../system/sound-picture.js";
import { aboutImage, soundReference } from "../../sound-reference.js";

/** The smallest limit that a model of fal states for a picture. */
const BYTES_MAX = 10 * 1024 * 1024;

type Reference = { readonly type: ImageType; readonly bytes: Uint8Array };

/**
 * A reference image as it is, or, if it is damaged, above `bytesMax` (10 MiB), or above `edgePixelsMax` (4000) at an
 * edge, as a smaller JPEG of the same picture. The error is a reason for the log.
 */
export const smallerReference = async (
  bytes: Uint8Array,
  { bytesMax = BYTES_MAX, edgePixelsMax = SMALLER_EDGE_PIXELS } = {},
): Promise<Result<Reference, string>> => {
  const sound = await soundReference(bytes);
  if (sound.isErr()) return err(sound.error);
  const { size, ...reference } = sound.value;
  const edge = Math.max(size.widthPixels, size.heightPixels);
  if (reference.bytes.length <= bytesMax && edge <= edgePixelsMax) return ok(reference);
  try {
    const smaller = await decoding((sharp) => smallerJpeg(sharp, reference.bytes));
    return ok({ type: "image/jpeg", bytes: smaller.bytes });
  } catch {
    return err("a reference image cannot be decoded");
  }
};

/**
 * A reference image as it is, or, if an edge is shorter than `edgePixelsMin`, as a larger JPEG of the same picture. One
 * that would be too long then is put on white. The error is a reason for the log.
 */
export const largeEnough = async (reference: Reference, edgePixelsMin = 0): Promise<Result<Reference, string>> => {
  const size = await sizeOfImage(reference.bytes);
  if (size.isErr()) return err(aboutImage(size.error));
  const edges = [size.value.widthPixels, size.value.heightPixels];
  if (Math.min(...edges) >= edgePixelsMin) return ok(reference);
  const scale = Math.min(edgePixelsMin / Math.min(...edges), SMALLER_EDGE_PIXELS / Math.max(...edges));
  const [width, height] = edges.map((edge) => Math.max(edgePixelsMin, Math.round(edge * scale)));
  const bytes = await decoding((sharp) =>
    sharp(reference.bytes)
      .autoOrient()
      .flatten({ background: "white" })
      .resize({ width, height, fit: "contain", background: "white" })
      .jpeg({ quality: 90 })
      .toBuffer(),
  );
  return ok({ type: "image/jpeg", bytes });
};
