import { err, ok, type Result } from "neverthrow";
import type { Sharp } from "sharp";
import { IMAGE_PIXELS_MAX, imageTypeOf } from "../../../../domain/image-type.js";
import { decoding, type ImageLibrary } from "../../../system/load-sharp.js";

const WIDTH_PIXELS = 1440;
const HEIGHT_PIXELS = 720;
/** A photo covers at most 120° horizontally: near the horizon the distortion is small. */
const PHOTO_WIDTH_PIXELS = WIDTH_PIXELS / 3;
const PHOTO_HEIGHT_PIXELS = HEIGHT_PIXELS / 2;
/** Replicate accepts data URIs of at most 256 KB; base64 turns three bytes into four characters. */
const BYTES_MAX = 190_000;
const QUALITIES = [90, 75, 50, 25, 10, 3];

/**
 * Encodes a reference image as a JPEG of 1440 × 720 pixels that a model reads as a panorama. A 2:1 image is scaled; any
 * other is placed in the middle of a canvas of its average colour. The error is a reason for the log.
 */
export const panoramaCanvas = async (bytes: Uint8Array): Promise<Result<Buffer, string>> => {
  if (imageTypeOf(bytes) === undefined) return err("a reference image is not a JPEG, PNG or WebP");
  try {
    return await decoding(async (sharp) => {
      const canvas = await draw(sharp, bytes);
      for (const quality of QUALITIES) {
        const encoded = await canvas.clone().jpeg({ quality }).toBuffer();
        if (encoded.length <= BYTES_MAX) return ok(encoded);
      }
      return err("a reference image cannot be made small enough");
    });
  } catch {
    return err("a reference image cannot be decoded");
  }
};

const draw = async (sharp: ImageLibrary, bytes: Uint8Array): Promise<Sharp> => {
  const upright = () => sharp(bytes, { limitInputPixels: IMAGE_PIXELS_MAX }).rotate().toColourspace("srgb");
  const { width, height } = (await upright().metadata()).autoOrient;
  if (Math.abs(width / height - 2) <= 0.02) {
    return upright().flatten().resize(WIDTH_PIXELS, HEIGHT_PIXELS, { fit: "fill" });
  }
  const average = await upright().flatten().resize(1, 1, { fit: "fill" }).raw().toBuffer();
  const [r = 0, g = 0, b = 0] = average;
  const background = { r, g, b };
  const photo = upright().flatten().resize(PHOTO_WIDTH_PIXELS, PHOTO_HEIGHT_PIXELS, { fit: "inside" });
  const composed = sharp({ create: { width: WIDTH_PIXELS, height: HEIGHT_PIXELS, channels: 3, background } })
    .composite([{ input: await photo.png().toBuffer() }])
    .png();
  return sharp(await composed.toBuffer()).flatten();
};
