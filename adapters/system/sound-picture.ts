import { err, ok, type Result } from "neverthrow";
import {
  IMAGE_PIXELS_MAX,
  type ImageType,
  imageTypeOf,
  PROGRESSIVE_PIXELS_MAX,
} from "../../domain/images/image-type.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import { decodingError, sizeOfImage } from "./image-header.js";
import { kindOfFile } from "./kind-of-file.js";
import { decoding, type ImageLibrary } from "./load-sharp.js";
import { hasSoundChunks, jpegSegments, wholePng } from "./picture-parts.js";

/** Rows that a picture may lack, of all its rows. */
const MISSING_MAX = 0.05;
/** Rows and columns that are compared to count the missing ones. */
const COMPARED = { width: 16, height: 400 };
/** 16 megapixels at most: the smallest limit of pixels that a model states, that of FLUX.3. */
export const SMALLER_EDGE_PIXELS = 4000;

/** A picture that every decoder reads without a warning. */
export type SoundPicture = {
  readonly type: ImageType;
  readonly bytes: Uint8Array;
  /** As it is shown. */
  readonly size: PixelSize;
};

/**
 * A picture of a customer, as browsers show it. One that decodes without a warning is returned as it is; one with a
 * warning (a wrong header or checksum, no end) is encoded anew, because decoders of others may refuse it. Refused is
 * what has more than 5 % of its rows missing, or too many pixels, or is no picture. The error is a clause.
 */
export const soundPicture = async (bytes: Uint8Array): Promise<Result<SoundPicture, string>> => {
  const type = imageTypeOf(bytes);
  if (type === undefined) return err(notAccepted(kindOfFile(bytes)));
  // Its header can be read only then.
  const given = type === "image/webp" ? wholeWebp(bytes) : ok(bytes);
  if (given.isErr()) return err(given.error);
  const size = await sizeOfImage(given.value);
  if (size.isErr()) return err(size.error);
  return decoding(async (sharp) => {
    const isWhole = given.value === bytes && (await isSound(sharp, type, bytes));
    if (isWhole) return ok({ type, bytes, size: size.value });
    const pixels = size.value.widthPixels * size.value.heightPixels;
    if (type === "image/png" && pixels > PROGRESSIVE_PIXELS_MAX) return err(TOO_LARGE);
    try {
      const whole = await completed(sharp, type, given.value);
      if (whole.missing > MISSING_MAX) return err(incomplete(whole.missing));
      const made = await smallerJpeg(sharp, whole.bytes);
      return ok({ type: "image/jpeg", ...made });
    } catch (error) {
      return err(decodingError(error));
    }
  });
};

/** A picture as a JPEG of at most 4000 pixels at an edge. Also of one that decodes only with warnings. */
export const smallerJpeg = async (sharp: ImageLibrary, bytes: Uint8Array) => {
  const edge = SMALLER_EDGE_PIXELS;
  const { data, info } = await sharp(bytes, { limitInputPixels: IMAGE_PIXELS_MAX, failOn: "none" })
    .autoOrient()
    .flatten({ background: "white" })
    .resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true })
    .jpeg({ quality: 90 })
    .toBuffer({ resolveWithObject: true });
  return { bytes: data, size: { widthPixels: info.width, heightPixels: info.height } };
};

const compared = (sharp: ImageLibrary, bytes: Uint8Array) =>
  sharp(bytes, { limitInputPixels: IMAGE_PIXELS_MAX, failOn: "none" })
    .resize({ ...COMPARED, fit: "fill", kernel: "nearest" })
    .raw()
    .toBuffer({ resolveWithObject: true });

/** True if the file is complete, and decodes without a warning. */
const isSound = async (sharp: ImageLibrary, type: ImageType, bytes: Uint8Array): Promise<boolean> => {
  if (type === "image/jpeg" && [...jpegSegments(bytes)].at(-1)?.type !== "d9") return false;
  if (type === "image/png" && !hasSoundChunks(bytes)) return false;
  const decoded = sharp(bytes, { limitInputPixels: IMAGE_PIXELS_MAX, failOn: "warning" }).resize(1, 1, { fit: "fill" });
  return decoded
    .raw()
    .toBuffer()
    .then(
      () => true,
      () => false,
    );
};

/** The picture for a decoder that ignores warnings, and the share of its rows that are missing. */
const completed = async (
  sharp: ImageLibrary,
  type: ImageType,
  bytes: Uint8Array,
): Promise<{ readonly bytes: Uint8Array; readonly missing: number }> => {
  if (type === "image/png") return wholePng(bytes, MISSING_MAX);
  if (type === "image/webp") return { bytes, missing: 0 };
  const arrived = withoutZeros(bytes);
  return { bytes: arrived, missing: await missingOfJpeg(sharp, arrived) };
};

/**
 * Decoders show what has no data in one colour, from some pixel on to the end. It is that of the same file without any
 * data of pixels. A progressive JPEG has all rows after its first scan.
 */
const missingOfJpeg = async (sharp: ImageLibrary, bytes: Uint8Array): Promise<number> => {
  const { data, info } = await compared(sharp, bytes);
  const empty = await compared(sharp, withoutPixels(bytes));
  const { width, height, channels } = info;
  const colour = empty.data.subarray(-channels);
  const isMissing = (pixel: number) =>
    colour.every((value, channel) => Math.abs(value - (data[pixel * channels + channel] ?? 0)) <= 1);
  let missing = 0;
  for (let row = height - 1; row >= 0; row -= 1) {
    let column = width - 1;
    while (column >= 0 && isMissing(row * width + column)) column -= 1;
    missing += width - 1 - column;
    if (column === width - 1) break;
  }
  return missing / (width * height);
};

/** Without the zeros that a download leaves where it has not arrived: they would decode to some colour. */
const withoutZeros = (bytes: Uint8Array): Uint8Array =>
  bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);

const withoutPixels = (jpeg: Uint8Array): Uint8Array => {
  const parts: Uint8Array[] = [jpeg.subarray(0, 2)];
  for (const { type, bytes, length } of jpegSegments(jpeg)) {
    if (type === "da") return Buffer.concat([...parts, bytes.subarray(0, 4 + length), Uint8Array.of(0xff, 0xd9)]);
    parts.push(bytes);
  }
  return jpeg;
};

/** A WebP that is cut off, with zeros at its end, without which decoders refuse it. Its data follows its rows. */
const wholeWebp = (bytes: Uint8Array): Result<Uint8Array, string> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const wholeBytes = 8 + view.getUint32(4, true);
  if (bytes.length >= wholeBytes) return ok(bytes);
  const missing = 1 - bytes.length / wholeBytes;
  if (missing > MISSING_MAX) return err(incomplete(missing));
  return ok(Buffer.concat([bytes, Buffer.alloc(wholeBytes - bytes.length)]));
};

const notAccepted = (kind: string | undefined): string =>
  kind === "empty" ? "it is empty" : `it is ${kind === undefined ? "" : `${kind}, `}neither JPEG, PNG nor WebP`;

/** A decoder would need several seconds for it. */
const TOO_LARGE = `it is damaged, and has more than ${PROGRESSIVE_PIXELS_MAX / 1e6} megapixels, the most of a damaged PNG`;

const incomplete = (missing: number): string => `about ${Math.round(100 * missing)} % of its rows are missing`;
