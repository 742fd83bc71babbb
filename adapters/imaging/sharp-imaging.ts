import { err, ok, type Result } from "neverthrow";
import type { Sharp } from "sharp";
import type { Imaging, UnusableImage } from "../../application/ports/imaging.js";
import { IMAGE_PIXELS_MAX, type ImageType, imageTypeOf } from "../../domain/image-type.js";
import type { PixelSize } from "../../domain/resolution.js";
import { decoding, type ImageLibrary, loadSharp } from "../system/load-sharp.js";
import { pixelSize } from "../wording/pixel-size.js";
import { photoSphereXmp } from "./photo-sphere-xmp.js";

const PANORAMA_SIZE_MAX: PixelSize = { widthPixels: 8192, heightPixels: 4096 };
const ASPECT_TOLERANCE = 0.01;
const THUMBNAIL_SIZE: PixelSize = { widthPixels: 512, heightPixels: 256 };
const JPEG_QUALITY = 90;
const WEBP_QUALITY = 80;

export class SharpImaging implements Imaging {
  async inspect(bytes: Uint8Array, type: ImageType): Promise<Result<PixelSize, UnusableImage>> {
    if (imageTypeOf(bytes) !== type) return unusable(`it does not start with the signature of ${type}`);
    try {
      const sharp = await loadSharp();
      const { autoOrient } = await sharp(bytes, { limitInputPixels: false, failOn: "error" }).metadata();
      const size = { widthPixels: autoOrient.width, heightPixels: autoOrient.height };
      if (size.widthPixels * size.heightPixels <= IMAGE_PIXELS_MAX) return ok(size);
      return unusable(`it has ${pixelSize(size)} pixels, more than ${IMAGE_PIXELS_MAX / 1e6} megapixels`);
    } catch (error) {
      return unusable(decodingError(error));
    }
  }

  async panorama(bytes: Uint8Array, size: PixelSize): Promise<Result<Uint8Array, UnusableImage>> {
    const type = imageTypeOf(bytes);
    if (type === undefined) return unusable("it is neither JPEG, PNG nor WebP");
    const inspected = await this.inspect(bytes, type);
    if (inspected.isErr()) return err(inspected.error);
    const from = inspected.value;
    if (!fits(from)) return unusable(`it has ${pixelSize(from)} pixels, more than ${pixelSize(PANORAMA_SIZE_MAX)}`);
    if (!isTwoToOne(from)) return unusable(`it has ${pixelSize(from)} pixels, which is not 2:1`);

    return encoded(async (sharp) => {
      const decoder = sharp(bytes, LIMITS);
      const upright = decoder.autoOrient().flatten({ background: "black" }).toColourspace("srgb");
      const exact = isSameSize(from, size) ? upright : await resizeSeamlessly(sharp, upright, from, size);
      return exact.withXmp(photoSphereXmp(size)).jpeg({ quality: JPEG_QUALITY }).toBuffer();
    });
  }

  thumbnail(panorama: Uint8Array): Promise<Result<Uint8Array, UnusableImage>> {
    const { widthPixels: width, heightPixels: height } = THUMBNAIL_SIZE;
    return encoded((sharp) =>
      sharp(panorama, LIMITS).resize({ width, height, fit: "fill" }).webp({ quality: WEBP_QUALITY }).toBuffer(),
    );
  }
}

const LIMITS = { limitInputPixels: IMAGE_PIXELS_MAX, failOn: "error" } as const;

/** Returns `unusable_image` if `work` throws: only decoding shows whether the image is complete. */
const encoded = async (
  work: (sharp: ImageLibrary) => Promise<Uint8Array>,
): Promise<Result<Uint8Array, UnusableImage>> => {
  try {
    return ok(await decoding(work));
  } catch (error) {
    return unusable(decodingError(error));
  }
};

/**
 * Resizes a panorama without a seam: its left and right edges are neighbours. Before the resize, each edge is padded
 * with columns from the opposite edge, so that the filter sees them; the padding is cut off afterwards.
 */
const resizeSeamlessly = async (
  sharp: ImageLibrary,
  panorama: Sharp,
  from: PixelSize,
  to: PixelSize,
): Promise<Sharp> => {
  const { before, after } = padding(from.widthPixels, to.widthPixels);
  const { data, info } = await panorama
    .extend({ left: before, right: before, extendWith: "repeat" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return sharp(data, { raw: { width, height, channels }, limitInputPixels: false })
    .resize({ width: to.widthPixels + 2 * after, height: to.heightPixels, fit: "fill" })
    .extract({ left: after, top: 0, width: to.widthPixels, height: to.heightPixels });
};

/** Columns of padding at each edge: 32 to 64 before the resize, chosen so that they are nearly a whole number after it. */
const padding = (fromWidth: number, toWidth: number): { before: number; after: number } => {
  let best = { before: 32, after: 0, error: Number.POSITIVE_INFINITY };
  for (let before = 32; before <= 64; before += 1) {
    const exact = (before * toWidth) / fromWidth;
    const after = Math.round(exact);
    const error = Math.abs(exact - after);
    if (error < best.error) best = { before, after, error };
  }
  return best;
};

const isSameSize = (one: PixelSize, other: PixelSize): boolean =>
  one.widthPixels === other.widthPixels && one.heightPixels === other.heightPixels;

const fits = ({ widthPixels, heightPixels }: PixelSize): boolean =>
  widthPixels <= PANORAMA_SIZE_MAX.widthPixels && heightPixels <= PANORAMA_SIZE_MAX.heightPixels;

const isTwoToOne = ({ widthPixels, heightPixels }: PixelSize): boolean =>
  Math.abs(widthPixels / (2 * heightPixels) - 1) <= ASPECT_TOLERANCE;

/** The message of libvips on one line: at most 200 characters of it, without a full stop. */
const decodingError = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return `it cannot be decoded: ${message
    .replace(/\s+/g, " ")
    .slice(0, 200)
    .replace(/[\s:.]+$/, "")}`;
};

const unusable = (reason: string) => err({ kind: "unusable_image" as const, reason });
