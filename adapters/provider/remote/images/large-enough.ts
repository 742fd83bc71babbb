import { err, ok, type Result } from "neverthrow";
import { sizeOfImage } from "../../../system/image-header.js";
import { decoding } from "../../../system/load-sharp.js";
import { SMALLER_EDGE_PIXELS } from "../../../system/sound-picture.js";
import { aboutImage } from "../../image-problem.js";
import type { Reference } from "./smaller-reference.js";

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
