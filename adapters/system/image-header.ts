import { err, ok, type Result } from "neverthrow";
import { IMAGE_PIXELS_MAX, PROGRESSIVE_PIXELS_MAX } from "../../domain/images/image-type.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import { pixelSize } from "../wording/numbers.js";
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

/** EXIF orientation: 1 to 8. `undefined` without one, or without a header. */
export const orientationOf = async (bytes: Uint8Array): Promise<number | undefined> => {
  const sharp = await loadSharp();
  const header = await sharp(bytes, { limitInputPixels: false, failOn: "none" })
    .metadata()
    .catch(() => undefined);
  return header?.orientation;
};

/**
 * Why an image cannot be decoded, as a clause. What libvips says of the bytes is for its programmers; other messages
 * are on one line, at most 200 characters of them, without a full stop.
 */
export const decodingError = (error: unknown): string => {
  const message = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
  const reason = /^Input (buffer|file) (has|contains)|^Vips\w+:/.test(message)
    ? "the file is damaged, incomplete, or of a format that is not supported"
    : message.slice(0, 200).replace(/[\s:.]+$/, "");
  return `it cannot be decoded: ${reason}`;
};
