import { crc32 } from "node:zlib";

/** A part of a picture's file: a segment of a JPEG, or a chunk of a PNG or WebP. The last one may be cut off. */
export type PicturePart = {
  /** The type of a chunk. Of a segment, its marker in hexadecimal: `e1`. */
  readonly type: string;
  /** All of it. */
  readonly bytes: Buffer;
  /** What is in it, without its type, length and checksum. */
  readonly data: Buffer;
  /** Bytes that `data` should have. */
  readonly length: number;
};

/** More are in no picture: what follows counts as cut off, so that reading them takes little time and memory. */
const PARTS_MAX = 50_000;

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

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
    const length = marker === END ? 0 : Math.max(2, at + 4 <= file.length ? file.readUInt16BE(at + 2) : 2);
    const dataEnd = at + 2 + length;
    const end = marker === 0xda ? endOfScan(file, dataEnd) : dataEnd;
    const data = file.subarray(Math.min(at + 4, dataEnd), dataEnd);
    parts += 1;
    yield { type: marker.toString(16), bytes: file.subarray(at, end), data, length: Math.max(0, length - 2) };
    if (marker === END) return;
    at = end;
  }
}

/** Not a byte that was stuffed, and not a marker within the data of a scan. */
const isMarker = (byte: number): boolean => byte !== 0 && (byte < 0xd0 || byte > 0xd7);

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

/** The chunks of a WebP. */
export function* webpChunks(webp: Uint8Array): Generator<PicturePart> {
  const file = bufferOf(webp);
  for (let at = RIFF_HEADER_BYTES, parts = 0; at + 8 <= file.length && parts < PARTS_MAX; parts += 1) {
    const length = file.readUInt32LE(at + 4);
    const end = at + 8 + length + (length % 2);
    const data = file.subarray(at + 8, at + 8 + length);
    yield { type: file.toString("latin1", at, at + 4), bytes: file.subarray(at, end), data, length };
    at = end;
  }
}
