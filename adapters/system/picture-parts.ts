import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, crc32, createDeflate, createInflateRaw } from "node:zlib";

/** A part of a picture's file: a segment of a JPEG, or a chunk of a PNG or WebP. The last one may be cut off. */
export type PicturePart = {
  /** The type of a chunk. Of a segment, its marker in hexadecimal: `e1`. */
  readonly type: string;
  /** All of it. */
  readonly bytes: Buffer;
  /** Content without type, length and checksum. */
  readonly data: Buffer;
  /** Bytes that `data` should have. */
  readonly length: number;
};

/** More are in no picture: what follows counts as cut off, so that reading them takes little time and memory. */
const PARTS_MAX = 50_000;

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

const START = 0xd8;
const END = 0xd9;

/**
 * The segments of a JPEG, from the one after its start to its end, each with the compressed data behind it. Skips what
 * is between them, as decoders do.
 */
export function* jpegSegments(jpeg: Uint8Array): Generator<PicturePart> {
  const file = bufferOf(jpeg);
  for (let at = 2, parts = 0; at + 1 < file.length && parts < PARTS_MAX; ) {
    const marker = file[at + 1] ?? 0;
    if (file[at] !== 0xff || marker === 0xff || !isMarker(marker)) {
      at += 1;
      continue;
    }
    const length =
      marker === START || marker === END ? 0 : Math.max(2, at + 4 <= file.length ? file.readUInt16BE(at + 2) : 2);
    const dataEnd = at + 2 + length;
    const end = marker === 0xda ? endOfScan(file, dataEnd) : dataEnd;
    const data = file.subarray(Math.min(at + 4, dataEnd), dataEnd);
    parts += 1;
    yield { type: marker.toString(16), bytes: file.subarray(at, end), data, length: Math.max(0, length - 2) };
    if (marker === END) return;
    at = end;
  }
}

/** Not a byte that was stuffed, not one of the invalid markers below, and not a marker within the data of a scan. */
const isMarker = (byte: number): boolean => byte >= 0xc0 && (byte < 0xd0 || byte > 0xd7);

const endOfScan = (file: Buffer, from: number): number => {
  for (let at = from; at < file.length; at += 1) {
    const next = file[at + 1] ?? 0;
    if (file[at] === 0xff && next !== 0xff && isMarker(next)) return at;
  }
  return file.length;
};

const PNG_SIGNATURE_BYTES = 8;

/** The chunks of a PNG, up to its last one. */
export function* pngChunks(png: Uint8Array): Generator<PicturePart> {
  const file = bufferOf(png);
  for (let at = PNG_SIGNATURE_BYTES, parts = 0; at + 8 <= file.length && parts < PARTS_MAX; parts += 1) {
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    const end = at + 12 + length;
    yield { type, bytes: file.subarray(at, end), data: file.subarray(at + 8, at + 8 + length), length };
    if (type === "IEND") return;
    at = end;
  }
}

/** A chunk of a PNG, with its length and checksum. */
export const pngChunk = (type: string, data: Buffer): Buffer => {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type, "latin1"), data, Buffer.alloc(4)]);
  chunk.writeUInt32BE(data.length);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
};

const RIFF_HEADER_BYTES = 12;

/** The chunks of a WebP, up to the end that its header tells. */
export const webpChunks = (webp: Uint8Array): Generator<PicturePart> => {
  const file = bufferOf(webp);
  const end = file.length < RIFF_HEADER_BYTES ? 0 : 8 + file.readUInt32LE(4);
  return chunksIn(file, RIFF_HEADER_BYTES, end);
};

/** A frame of an animation begins with its position, size and duration. */
const FRAME_HEADER_BYTES = 16;

/** The chunks in a chunk ANMF of a WebP. */
export const frameChunks = ({ bytes }: PicturePart): Generator<PicturePart> =>
  chunksIn(bytes, 8 + FRAME_HEADER_BYTES, bytes.length);

function* chunksIn(file: Buffer, from: number, before: number): Generator<PicturePart> {
  for (let at = from, parts = 0; at < before && at + 8 <= file.length && parts < PARTS_MAX; parts += 1) {
    const length = file.readUInt32LE(at + 4);
    const end = at + 8 + length + (length % 2);
    const data = file.subarray(at + 8, at + 8 + length);
    yield { type: file.toString("latin1", at, at + 4), bytes: file.subarray(at, end), data, length };
    at = end;
  }
}

/** The bytes before the compressed data of a zlib stream. */
const ZLIB_HEADER_BYTES = 2;
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** Passes of an interlaced PNG: first column and row, and the distances to the next ones. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** True if a PNG has its last chunk, and every chunk the right checksum. Not all decoders check this. */
export const hasSoundChunks = (png: Uint8Array): boolean => {
  const chunks = [...pngChunks(png)];
  const isSound = ({ bytes, length }: PicturePart) =>
    bytes.length === 12 + length && crc32(bytes.subarray(4, -4)) === bytes.readUInt32BE(bytes.length - 4);
  return chunks.at(-1)?.type === "IEND" && chunks.every(isSound);
};

/** A PNG for decoders that do not insist on checksums. */
type WholePng = {
  readonly bytes: Uint8Array;
  /** From 0 to 1: the rows that are not there. Of an interlaced PNG, its data that are not there. */
  readonly missing: number;
};

/**
 * Counts the rows that a PNG lacks. To an interlaced one it adds black or transparent ones, unless more than
 * `missingMax` are missing: of such a PNG decoders read nothing if it is cut off. Only a small part of the rows is in
 * memory without compression.
 */
export const wholePng = async (png: Uint8Array, missingMax: number): Promise<WholePng> => {
  const chunks = [...pngChunks(png)];
  const header = chunks[0]?.data ?? Buffer.alloc(0);
  const rasterBytes = rasterBytesOf(header);
  let missingBytes = rasterBytes;
  const raster = async function* () {
    const data = Buffer.concat(chunks.flatMap(({ type, data }) => (type === "IDAT" ? [data] : [])));
    const inflate = createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH });
    try {
      for await (const bytes of Readable.from([data.subarray(ZLIB_HEADER_BYTES)]).pipe(inflate)) {
        const wanted: Buffer = bytes.subarray(0, missingBytes);
        missingBytes -= wanted.length;
        yield wanted;
        if (missingBytes === 0) return;
      }
    } catch {
      // The rest is damaged, and counts as missing.
    }
    if (missingBytes <= missingMax * rasterBytes) yield Buffer.alloc(missingBytes);
  };
  const missing = () => (rasterBytes === 0 ? 1 : missingBytes / rasterBytes);
  if (header[INTERLACED] !== 1) {
    for await (const _ of raster());
    return { bytes: png, missing: missing() };
  }
  const compressed: Buffer[] = [];
  await pipeline(raster, createDeflate({ level: constants.Z_BEST_SPEED }), async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) compressed.push(piece);
  });
  const pixels = pngChunk("IDAT", Buffer.concat(compressed));
  const first = chunks.findIndex(({ type }) => type === "IDAT");
  const before = chunks.slice(0, first).map(({ bytes }) => bytes);
  const end = pngChunk("IEND", Buffer.alloc(0));
  return { bytes: Buffer.concat([png.subarray(0, 8), ...before, pixels, end]), missing: missing() };
};

/** In the header. */
const INTERLACED = 12;

/** Bytes of all rows before they are compressed, each with the byte that names its filter. */
const rasterBytesOf = (header: Buffer): number => {
  if (header.length < 13) return 0;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const bits = (header[8] ?? 0) * (CHANNELS[header[9] ?? 0] ?? 0);
  const passes = header[INTERLACED] === 1 ? PASSES : ([[0, 0, 1, 1]] as const);
  return passes.reduce((sum, [left, top, across, down]) => {
    const columns = Math.ceil((width - left) / across);
    const rows = Math.ceil((height - top) / down);
    return columns <= 0 || rows <= 0 ? sum : sum + rows * (1 + Math.ceil((columns * bits) / 8));
  }, 0);
};
