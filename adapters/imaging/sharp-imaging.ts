import { err, ok, type Result } from "neverthrow";
import type { Sharp } from "sharp";
import type { EncodedPanorama, Imaging, UnusableImage } from "../../application/ports/imaging.js";
import { IMAGE_PIXELS_MAX, type ImageType, imageTypeOf } from "../../domain/images/image-type.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import type { DigitalSourceType } from "../../domain/images/source-type.js";
import { decodingError, orientationOf, sizeOfImage } from "../system/image-header.js";
import { decoding, type ImageLibrary } from "../system/load-sharp.js";
import { soundPicture } from "../system/sound-picture.js";
import { sourceTypeIn, sourceTypeXmp } from "../system/source-type-xmp.js";
import { pixelSize } from "../wording/numbers.js";
import { measuresOf } from "./figures.js";
import { WEBP_QUALITY } from "./perspective-view.js";
import { photoSphereXmp } from "./photo-sphere-xmp.js";
import type { SignPicture } from "./provenance/sign-picture.js";
import { type RawPanorama, rangeOf } from "./raw-panorama.js";
import { blendSeam, SEAM_VISIBLE, seamOf } from "./seam.js";
import { withoutPersonalData } from "./without-personal-data.js";

const PANORAMA_SIZE_MAX: PixelSize = { widthPixels: 8192, heightPixels: 4096 };
const ASPECT_TOLERANCE = 0.01;
/** Wide, because the viewer shows it until the picture is loaded. A separate preview would be one more object. */
const THUMBNAIL_SIZE: PixelSize = { widthPixels: 1024, heightPixels: 512 };
const JPEG_QUALITY = 90;

/**
 * Reads and encodes images with the package sharp: panoramas as JPEG with the metadata of a photo sphere, thumbnails as
 * WebP. Returns `unusable_image` for what cannot be decoded.
 *
 * It sets sharp up for the whole process, because images are untrusted: it reads JPEG, PNG and WebP only, uses one
 * thread for an image and no cache, and at most two images are decoded at the same time.
 *
 * `sign` puts a signed manifest into each. Without it they have only the marks in XMP.
 */
export const sharpImaging = (sign: SignPicture = async (picture) => picture): Imaging => new SharpImaging(sign);

class SharpImaging implements Imaging {
  private readonly sign: SignPicture;

  constructor(sign: SignPicture) {
    this.sign = sign;
  }

  async inspect(bytes: Uint8Array): Promise<Result<PixelSize, UnusableImage>> {
    return (await soundPicture(bytes)).map(({ size }) => size).mapErr(unusableImage);
  }

  async withoutPersonalData(bytes: Uint8Array, type: ImageType): Promise<Uint8Array> {
    return withoutPersonalData(bytes, type, await orientationOf(bytes));
  }

  async panorama(
    bytes: Uint8Array,
    size: PixelSize,
    sourceType: DigitalSourceType = "trainedAlgorithmicMedia",
  ): Promise<Result<EncodedPanorama, UnusableImage>> {
    if (imageTypeOf(bytes) === undefined) return unusable("it is neither JPEG, PNG nor WebP");
    const measured = await sizeOfImage(bytes);
    if (measured.isErr()) return unusable(measured.error);
    const from = measured.value;
    if (!fits(from)) return unusable(`it has ${pixelSize(from)} pixels, more than ${pixelSize(PANORAMA_SIZE_MAX)}`);
    if (!isTwoToOne(from)) return unusable(`it has ${pixelSize(from)} pixels, which is not 2:1`);

    const made = await encoded(async (sharp) => {
      const resized = isSameSize(from, size) ? undefined : padding(from.widthPixels, size.widthPixels);
      const raw = await decoded(sharp, bytes, resized?.before ?? 0);
      const picture = { nativeSize: from, isFlat: await isFlat(sharp, raw), seam: seamOf(raw), ...measuresOf(raw) };
      if (picture.seam > SEAM_VISIBLE) await blendSeam(raw);
      const exact = resized === undefined ? sharpOf(sharp, raw) : resize(sharp, raw, size, resized.after);
      const jpeg = exact.withXmp(photoSphereXmp(size, sourceType)).jpeg({ quality: JPEG_QUALITY });
      return { ...picture, bytes: await jpeg.toBuffer() };
    });
    // Not in `encoded`: a failure to sign says nothing about the image.
    return made.isErr()
      ? err(made.error)
      : ok({ ...made.value, bytes: await this.sign(made.value.bytes, { sourceType, madeFrom: bytes }) });
  }

  async thumbnail(panorama: Uint8Array): Promise<Result<Uint8Array, UnusableImage>> {
    const { widthPixels: width, heightPixels: height } = THUMBNAIL_SIZE;
    const sourceType = sourceTypeIn(panorama);
    const made = await encoded((sharp) =>
      sharp(panorama, LIMITS)
        .resize({ width, height, fit: "fill" })
        .withXmp(sourceTypeXmp(sourceType))
        .webp({ quality: WEBP_QUALITY })
        .toBuffer(),
    );
    // Without the manifest of the panorama: with the manifest of a provider it can be larger than the thumbnail.
    return made.isErr() ? err(made.error) : ok(await this.sign(made.value, { sourceType }));
  }
}

const LIMITS = { limitInputPixels: IMAGE_PIXELS_MAX, failOn: "error" } as const;

/** Returns `unusable_image` if `work` throws: only decoding shows whether the image is complete. */
const encoded = async <T>(work: (sharp: ImageLibrary) => Promise<T>): Promise<Result<T, UnusableImage>> => {
  try {
    return ok(await decoding(work));
  } catch (error) {
    return unusable(decodingError(error));
  }
};

/** The pixels, with `left` columns of padding at each edge, copied from the opposite edge: they are neighbours. */
const decoded = async (sharp: ImageLibrary, bytes: Uint8Array, left: number): Promise<RawPanorama> => {
  const upright = sharp(bytes, LIMITS).autoOrient().flatten({ background: "black" }).toColourspace("srgb");
  const padded = left === 0 ? upright : upright.extend({ left, right: left, extendWith: "repeat" });
  const { data, info } = await padded.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width - 2 * left, height: info.height, channels: info.channels, left };
};

const sharpOf = (sharp: ImageLibrary, { data, width, height, channels, left }: RawPanorama): Sharp =>
  sharp(data, {
    raw: { width: width + 2 * left, height, channels: channels as 1 | 2 | 3 | 4 },
    limitInputPixels: false,
  });

/** Resizes with the padding, so that the filter sees it, and cuts it off, `after` columns at each edge. */
const resize = (
  sharp: ImageLibrary,
  raw: RawPanorama,
  { widthPixels, heightPixels }: PixelSize,
  after: number,
): Sharp =>
  sharpOf(sharp, raw)
    .resize({ width: widthPixels + 2 * after, height: heightPixels, fit: "fill" })
    .extract({ left: after, top: 0, width: widthPixels, height: heightPixels });

/** Levels of 0 to 255 between the darkest and the brightest pixel of a picture of one colour, by channel. */
const FLAT_RANGE_MAX = 4;
/** Pixels in each direction that are checked before all pixels are. */
const PROBES = 32;

/** Looks at some pixels first: nearly always they differ. */
const isFlat = async (sharp: ImageLibrary, raw: RawPanorama): Promise<boolean> => {
  const { width, height } = raw;
  const probes = Array.from({ length: PROBES * PROBES }, (_, n): [number, number] => [
    Math.floor(((n % PROBES) * width) / PROBES),
    Math.floor((Math.floor(n / PROBES) * height) / PROBES),
  ]);
  if (rangeOf(raw, probes) > FLAT_RANGE_MAX) return false;
  const { channels } = await sharpOf(sharp, raw).stats();
  return channels.every(({ min, max }) => max - min <= FLAT_RANGE_MAX);
};

/** Columns of padding at each edge: 32 to 64 before the resize, so that they are nearly a whole number after it. */
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

const unusableImage = (reason: string): UnusableImage => ({ kind: "unusable_image", reason });
const unusable = (reason: string) => err(unusableImage(reason));
