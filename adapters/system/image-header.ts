import { err, ok, type Result } from "neverthrow";
import { IMAGE_PIXELS_MAX, PROGRESSIVE_PIXELS_MAX } from "../../domain/images/image-type.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import { pixelSize } from "../wording/pixel-size.js";
import { loadSharp } from "./load-sharp.js";

/**
 * The size of a JPEG, PNG or WebP as it is shown, from its header. The error is a clause without a full stop: there is
 * no such header, or decoding the image would take too much memory. Images are untrusted: nothing decodes one before.
 */
export const sizeOfImage = async (bytes: Uint8Array): Promise<Result<PixelSize, string>> => {
  try {
    const sharp = await loadSharp();
    const header = await sharp(bytes, { limitInputPixels: false, failOn: "error" }).metadata();
    const size = { widthPixels: header.autoOrient.width, heightPixels: header.autoOrient.height };
    const isProgressive = header.isProgressive === true;
    const max = isProgressive ? PROGRESSIVE_PIXELS_MAX : IMAGE_PIXELS_MAX;
    if (size.widthPixels * size.heightPixels <= max) return ok(size);
    const why = isProgressive ? ", the most of a progressive or interlaced image" : "";
    return err(`it has ${pixelSize(size)} pixels, more than ${max / 1e6} megapixels${why}`);
  } catch (error) {
    return err(decodingError(error));
  }
};

/** The message of libvips on one line: at most 200 characters of it, without a full stop. */
export const decodingError = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return `it cannot be decoded: ${message
    .replace(/\s+/g, " ")
    .slice(0, 200)
    .replace(/[\s:.]+$/, "")}`;
};
