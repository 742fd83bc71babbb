import { err, ok, Result } from "neverthrow";
import { IMAGE_PIXELS_MAX } from "../../../../domain/images/image-type.js";
import type { PixelSize } from "../../../../domain/images/resolution.js";
import { decoding, type ImageLibrary } from "../../../system/load-sharp.js";
import type { SoundPicture } from "../../../system/sound-picture.js";
import { isPanorama, photoSidePixels, photoViews } from "../../photo-views.js";
import { soundReference } from "../../sound-reference.js";
import {
  ofImage,
  type ReferenceFailure,
  type ReferenceSources,
  referenceBytes,
  unusableReference,
} from "./reference-input.js";

/** The share of a photo's half width and height, at its edges, that may be repainted, so that they join. */
const JOIN = 0.06;
/** Rows between two pauses, so that requests do not wait for a whole canvas. */
const ROWS_AT_ONCE = 32;
/** Colours from top to bottom with which the free part of the canvas is filled. */
const BANDS = 3;

export type SphereCanvas = {
  /** The panorama with the photos in it, as PNG of the asked size: OpenAI wants image and mask in the same format. */
  readonly canvas: Buffer;
  /**
   * As PNG of the same size, and far below OpenAI's 4 MB. What shall be painted is white and transparent, what is
   * kept is black and opaque. So it fits models that read the alpha channel (gpt-image, ComfyUI's `LoadImage`) and
   * those that read the colour (FLUX fill, ComfyUI's `LoadImageMask`).
   */
  readonly mask: Buffer;
  /**
   * `panorama`: one picture of a whole panorama fills the canvas. It is there to be changed, and no part of it is to be
   * kept more than another, so the mask lets all be painted. A model that ignores what it paints gets no mask then.
   */
  readonly givenAs: "canvas" | "panorama";
};

/**
 * Projects one to three photos into an equirectangular panorama, as the local painter does: evenly around, the first
 * one in the middle. The rest has their average colours. A single 2:1 image is a panorama already and fills it.
 * Takes about 10 bytes of memory for each pixel of the canvas. The error is a reason for the log.
 */
export const sphereCanvas = async (
  photos: readonly Uint8Array[],
  size: PixelSize,
): Promise<Result<SphereCanvas, string>> => {
  const sound = Result.combine(await Promise.all(photos.map(soundReference)));
  if (sound.isErr()) return err(sound.error);
  const [only, ...others] = sound.value.map(({ size }) => size);
  const isOnePanorama = only !== undefined && others.length === 0 && isPanorama(only);
  return decoding(async (sharp) => {
    const decoded = await decodedPhotos(sharp, sound.value, size, isOnePanorama);
    if (decoded.isErr()) return err(decoded.error);
    const { panorama, pictures } = decoded.value;
    const drawn =
      panorama === undefined
        ? await painted(pictures, await coloursOf(sharp, pictures), size)
        : { canvas: panorama, mask: emptyMask(size) };
    const [canvas, mask] = [await pngOf(sharp, drawn.canvas), await pngOf(sharp, drawn.mask)];
    return ok({ canvas, mask, givenAs: panorama === undefined ? "canvas" : "panorama" });
  });
};

/** Rows of pixels, each with as many bytes as the image has channels. */
type Picture = PixelSize & { readonly channels: 3 | 4; readonly pixels: Uint8Array };
type Decoded =
  | { readonly panorama: Picture; readonly pictures?: never }
  | { readonly panorama?: undefined; readonly pictures: readonly Picture[] };

const decodedPhotos = async (
  sharp: ImageLibrary,
  photos: readonly SoundPicture[],
  size: PixelSize,
  isOnePanorama: boolean,
): Promise<Result<Decoded, string>> => {
  const { widthPixels, heightPixels } = size;
  const side = photoSidePixels(widthPixels);
  const upright = (bytes: Uint8Array) => sharp(bytes, { limitInputPixels: IMAGE_PIXELS_MAX }).rotate();
  const scaled = async (bytes: Uint8Array, width: number, height: number, fit: "fill" | "inside"): Promise<Picture> => {
    const { data, info } = await upright(bytes)
      .resize(width, height, { fit, withoutEnlargement: fit === "inside" })
      .flatten({ background: "#808080" })
      .toColourspace("srgb")
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { widthPixels: info.width, heightPixels: info.height, channels: 3, pixels: data };
  };
  try {
    const [first] = photos;
    if (isOnePanorama && first !== undefined) {
      return ok({ panorama: await scaled(first.bytes, widthPixels, heightPixels, "fill") });
    }
    const pictures: Picture[] = [];
    for (const { bytes } of photos) pictures.push(await scaled(bytes, side, side, "inside"));
    return ok({ pictures });
  } catch {
    return err("a reference image cannot be decoded");
  }
};

/** The average colours of all photos in `BANDS` bands from top to bottom, one after the other. */
const coloursOf = async (sharp: ImageLibrary, photos: readonly Picture[]): Promise<readonly number[]> => {
  const sums = Array<number>(BANDS * 3).fill(0);
  for (const { pixels, channels, widthPixels: width, heightPixels: height } of photos) {
    const bands = await sharp(pixels, { raw: { width, height, channels } })
      .resize(1, BANDS, { fit: "fill" })
      .raw()
      .toBuffer();
    for (let at = 0; at < sums.length; at += 1) sums[at] = (sums[at] ?? 0) + (bands[at] ?? 0);
  }
  return sums.map((sum) => sum / photos.length);
};

/** Source of a canvas column: photos do not overlap, and one of their columns lies in one of the canvas. */
type Column = {
  readonly photo: Picture;
  /** The column of the photo, from 0 to 1. */
  readonly across: number;
  /** The row of the photo, from -1 at its bottom to 1 at its top, for the tangent 1 of the elevation. */
  readonly rowPerTangent: number;
  /** True if the column is so near to an edge of the photo that it is painted. */
  readonly joins: boolean;
};

const columnsOf = (photos: readonly Picture[], widthPixels: number): readonly (Column | undefined)[] => {
  const views = photoViews(photos);
  return Array.from({ length: widthPixels }, (_, column) => {
    const azimuth = ((column + 0.5) / widthPixels) * 2 * Math.PI - Math.PI;
    for (const [index, { azimuthRadians, halfWidth, halfHeight }] of views.entries()) {
      const ahead = Math.cos(azimuth - azimuthRadians);
      const u = Math.tan(azimuth - azimuthRadians) / halfWidth;
      const photo = photos[index];
      if (ahead <= 0 || Math.abs(u) >= 1 || photo === undefined) continue;
      const joins = Math.abs(u) > 1 - JOIN;
      return { photo, across: (u + 1) / 2, rowPerTangent: 1 / (ahead * halfHeight), joins };
    }
    return undefined;
  });
};

const painted = async (
  photos: readonly Picture[],
  colours: readonly number[],
  size: PixelSize,
): Promise<{ readonly canvas: Picture; readonly mask: Picture }> => {
  const { widthPixels, heightPixels } = size;
  const columns = columnsOf(photos, widthPixels);
  const canvas = new Uint8Array(widthPixels * heightPixels * 3);
  const mask = emptyMask(size);
  for (let row = 0; row < heightPixels; row += 1) {
    if (row % ROWS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    const elevation = (0.5 - (row + 0.5) / heightPixels) * Math.PI;
    const tangent = Math.tan(elevation);
    const background = colourAt(colours, 1 - Math.sin(elevation));
    for (let column = 0; column < widthPixels; column += 1) {
      const pixel = row * widthPixels + column;
      const shown = columns[column];
      const v = shown === undefined ? 1 : tangent * shown.rowPerTangent;
      if (shown === undefined || Math.abs(v) >= 1) {
        for (let channel = 0; channel < 3; channel += 1) canvas[pixel * 3 + channel] = background[channel] ?? 0;
        continue;
      }
      sample(canvas, pixel * 3, shown, (1 - v) / 2);
      if (!shown.joins && Math.abs(v) <= 1 - JOIN) keep(mask.pixels, pixel * 4);
    }
  }
  return { canvas: { ...size, channels: 3, pixels: canvas }, mask };
};

/** White and transparent: all is painted. */
const emptyMask = (size: PixelSize): Picture => {
  const pixels = new Uint8Array(size.widthPixels * size.heightPixels * 4);
  for (let at = 0; at < pixels.length; at += 1) pixels[at] = at % 4 === 3 ? 0 : 255;
  return { ...size, channels: 4, pixels };
};

/** Makes a pixel of the mask black and opaque. */
const keep = (mask: Uint8Array, at: number): void => {
  mask[at] = 0;
  mask[at + 1] = 0;
  mask[at + 2] = 0;
  mask[at + 3] = 255;
};

/** `down` is 0 at the zenith, 1 at the horizon and 2 at the nadir. */
const colourAt = (colours: readonly number[], down: number): readonly number[] => {
  const band = (down / 2) * (BANDS - 1);
  const above = Math.min(Math.floor(band), BANDS - 2);
  const mixed = (channel: number): number => {
    const from = colours[above * 3 + channel] ?? 0;
    return from + ((colours[(above + 1) * 3 + channel] ?? 0) - from) * (band - above);
  };
  return [mixed(0), mixed(1), mixed(2)].map(Math.round);
};

/** Bilinear, into the three bytes from `target`. `down` is the row of the photo, from 0 to 1. */
const sample = (canvas: Uint8Array, target: number, { photo, across }: Column, down: number): void => {
  const { widthPixels, heightPixels, pixels } = photo;
  const x = Math.max(0, Math.min(across * widthPixels - 0.5, widthPixels - 1));
  const y = Math.max(0, Math.min(down * heightPixels - 0.5, heightPixels - 1));
  const left = Math.floor(x);
  const top = Math.floor(y);
  const nextColumn = left + 1 < widthPixels ? 3 : 0;
  const nextRow = top + 1 < heightPixels ? widthPixels * 3 : 0;
  const first = (top * widthPixels + left) * 3;
  for (let channel = 0; channel < 3; channel += 1) {
    const from = first + channel;
    const high = (pixels[from] ?? 0) * (1 - x + left) + (pixels[from + nextColumn] ?? 0) * (x - left);
    const below = from + nextRow;
    const low = (pixels[below] ?? 0) * (1 - x + left) + (pixels[below + nextColumn] ?? 0) * (x - left);
    canvas[target + channel] = high * (1 - y + top) + low * (y - top) + 0.5;
  }
};

const pngOf = (sharp: ImageLibrary, { pixels, channels, widthPixels, heightPixels }: Picture): Promise<Buffer> =>
  sharp(pixels, { raw: { width: widthPixels, height: heightPixels, channels } })
    .png()
    .toBuffer();

/**
 * The reference images of a request on one canvas. This service reads them all, also from other URLs, which a
 * provider would read itself otherwise.
 */
export const referenceCanvas = async (
  imageUrls: readonly string[],
  size: PixelSize,
  { storage, publicFetch }: ReferenceSources,
): Promise<Result<SphereCanvas, ReferenceFailure>> => {
  const read = await Promise.all(
    imageUrls.map(async (url, index) => (await referenceBytes(storage, publicFetch, url)).mapErr(ofImage(index))),
  );
  const photos = Result.combine(read);
  return photos.isErr() ? err(photos.error) : (await sphereCanvas(photos.value, size)).mapErr(unusableReference);
};
