import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, crc32, createDeflate, createInflateRaw } from "node:zlib";
import { type PicturePart, pngChunk, pngChunks } from "./picture-parts.js";

/** The bytes before the compressed data of a zlib stream. */
const ZLIB_HEADER_BYTES = 2;
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** Of an interlaced PNG: first column and row, and the distances to the next ones. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Whether a PNG has its last chunk, and every chunk the right checksum: not all decoders insist on it. */
export const hasSoundChunks = (png: Uint8Array): boolean => {
  const chunks = [...pngChunks(png)];
  const isSound = ({ bytes, length }: PicturePart) =>
    bytes.length === 12 + length && crc32(bytes.subarray(4, -4)) === bytes.readUInt32BE(bytes.length - 4);
  return chunks.at(-1)?.type === "IEND" && chunks.every(isSound);
};

/** A PNG for decoders that do not insist on checksums. */
export type WholePng = {
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
      // What follows is damaged, and counts as missing.
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
