import type { ImageType } from "../../domain/images/image-type.js";
import {
  frameChunks,
  jpegSegments,
  type PicturePart,
  pngChunk,
  pngChunks,
  webpChunks,
} from "../system/picture-parts.js";

/** Parts that decoders need to show a picture. All others are removed: they are metadata, or unknown. */
const PNG_CHUNKS = new Set(
  "IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT".split(" "),
);
const WEBP_CHUNKS = new Set(["VP8X", "VP8 ", "VP8L", "ALPH", "ICCP", "ANIM"]);
const FRAME_CHUNKS = new Set(["ALPH", "VP8 ", "VP8L"]);
/**
 * The segments for applications, by marker, that decoders need, by how they start: form, colour profile, colours; and
 * how many bytes they read of it. Behind those, a form has a thumbnail.
 */
const JPEG_APPLICATION_DATA: Readonly<Record<string, readonly [start: string, bytes?: number]>> = {
  e0: ["JFIF\0", 14],
  e2: ["ICC_PROFILE\0"],
  ee: ["Adobe", 12],
};

/** EXIF orientation: 1 to 8. 1 is upright. */
type Orientation = number;

/**
 * A picture without what it tells about its owner: place, time, camera, names, comments, and what some cameras append
 * (a second picture, a film). Pixels, colour profile and orientation stay as they are.
 */
export const withoutPersonalData = (bytes: Uint8Array, type: ImageType, orientation: Orientation = 1): Uint8Array => {
  const exif = orientation === 1 ? undefined : exifOf(orientation);
  if (type === "image/jpeg") return jpegWithout(bytes, exif);
  return type === "image/png" ? pngWithout(bytes, exif) : webpWithout(bytes, exif);
};

/** EXIF with the orientation only. */
const exifOf = (orientation: Orientation): Buffer => {
  const exif = Buffer.from("49492a0008000000010012010300010000000000000000000000", "hex");
  exif.writeUInt16LE(orientation, 18);
  return exif;
};

/**
 * Each scan is kept with its data, also if it is damaged. What decoders need of the metadata is before the first scan;
 * behind it, they end a scan at any marker, and skip what follows up to the next one. So nothing changes for them if a
 * segment is not there.
 */
const jpegWithout = (jpeg: Uint8Array, exif: Buffer | undefined): Uint8Array => {
  const parts: Buffer[] = [Buffer.from([0xff, 0xd8])];
  let isScan = false;
  for (const segment of jpegSegments(jpeg)) {
    isScan ||= segment.type === "da";
    if (!/^(e.|fe)$/.test(segment.type)) parts.push(segment.bytes);
    else if (!isScan) parts.push(...neededOf(segment));
  }
  if (exif !== undefined) {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(2 + EXIF.length + exif.length);
    const isJfif = parts[1]?.[1] === 0xe0;
    parts.splice(isJfif ? 2 : 1, 0, Buffer.concat([Buffer.from([0xff, 0xe1]), length, EXIF, exif]));
  }
  return Buffer.concat(parts);
};

/** What decoders need of a segment for applications. */
const neededOf = ({ type, bytes, data }: PicturePart): readonly Buffer[] => {
  const [start, neededBytes] = JPEG_APPLICATION_DATA[type] ?? [];
  if (start === undefined || data.toString("latin1", 0, start.length) !== start) return [];
  if (neededBytes === undefined) return [bytes];
  if (data.length < neededBytes) return []; // decoders ignore it
  const needed = Buffer.from(bytes.subarray(0, 4 + neededBytes));
  needed.writeUInt16BE(2 + neededBytes, 2);
  if (type === "e0") needed.fill(0, needed.length - 2); // width and height of the thumbnail
  return [needed];
};

const EXIF = Buffer.from("Exif\0\0", "latin1");

const pngWithout = (png: Uint8Array, exif: Buffer | undefined): Uint8Array => {
  const kept = [...pngChunks(png)].filter(({ type }) => PNG_CHUNKS.has(type)).map(({ bytes }) => bytes);
  if (exif !== undefined) kept.splice(1, 0, pngChunk("eXIf", exif));
  return Buffer.concat([png.subarray(0, 8), ...kept]);
};

const HAS_EXIF = 0x08;
const HAS_XMP = 0x04;

const webpWithout = (webp: Uint8Array, exif: Buffer | undefined): Uint8Array => {
  const kept = [...webpChunks(webp)].flatMap((chunk) => {
    if (chunk.type === "ANMF") return [frameWithout(chunk)];
    return WEBP_CHUNKS.has(chunk.type) ? [chunk] : [];
  });
  const parts = kept.map(({ type, bytes }) => {
    if (type !== "VP8X") return bytes;
    const chunk = Buffer.from(bytes);
    chunk[8] = ((chunk[8] ?? 0) & ~(HAS_EXIF | HAS_XMP)) | (exif === undefined ? 0 : HAS_EXIF);
    return chunk;
  });
  const header = Buffer.from(webp.subarray(0, 12));
  // Of a picture that is cut off, the size that it should have.
  let bodyBytes = kept.reduce((sum, chunk) => sum + wholeBytesOf(chunk), 0);
  if (exif !== undefined) {
    const chunk = Buffer.concat([Buffer.from("EXIF\0\0\0\0", "latin1"), exif]);
    chunk.writeUInt32LE(exif.length, 4);
    parts.push(chunk);
    bodyBytes += chunk.length;
  }
  header.writeUInt32LE(Math.min(4 + bodyBytes, 0xff_ff_ff_fe), 4);
  return Buffer.concat([header, ...parts]);
};

const frameWithout = (frame: PicturePart): PicturePart => {
  const chunks = [...frameChunks(frame)];
  const kept = chunks.filter(({ type }) => FRAME_CHUNKS.has(type));
  const header = Buffer.from(frame.bytes.subarray(0, 24));
  const knownBytes = kept.reduce((sum, { bytes }) => sum + bytes.length, header.length);
  if (knownBytes === frame.bytes.length || header.length < 24) return frame;
  const length = kept.reduce((sum, chunk) => sum + wholeBytesOf(chunk), 16);
  header.writeUInt32LE(length, 4);
  return { ...frame, bytes: Buffer.concat([header, ...kept.map(({ bytes }) => bytes)]), length };
};

const wholeBytesOf = ({ length }: PicturePart): number => 8 + length + (length % 2);
