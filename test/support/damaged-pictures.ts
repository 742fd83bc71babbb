import { crc32 } from "node:zlib";
import sharp from "sharp";
import type { PixelSize } from "../../domain/images/resolution.js";

/** A picture, or what is left of it. */
type Damage = (bytes: Buffer) => Buffer;

/** What arrived of a file. */
export const cutAt =
  (share: number): Damage =>
  (bytes) =>
    bytes.subarray(0, Math.floor(bytes.length * share));

/** A JPEG without its last marker, a PNG without its last chunk. */
export const withoutEnd: Damage = (bytes) => bytes.subarray(0, bytes.length - (bytes[0] === 0xff ? 2 : 12));

/** As a JPEG of some Samsung phones: the header of its scan says that there are coefficients 0 to 0 only. */
export const withWrongSe: Damage = (bytes) => {
  const damaged = Buffer.from(bytes);
  const scan = damaged.indexOf(Buffer.from([0xff, 0xda]));
  damaged[scan + 6 + 2 * (damaged[scan + 4] ?? 0)] = 0;
  return damaged;
};

/** As a download leaves a file whose room was reserved. */
export const zeroedFrom =
  (share: number): Damage =>
  (bytes) =>
    Buffer.concat([cutAt(share)(bytes), Buffer.alloc(bytes.length)]).subarray(0, bytes.length);

/** A chunk of a PNG: length, type, data, checksum. */
export const pngChunk = (type: string, data: Uint8Array, checksumError = 0): Buffer => {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type, "latin1"), data, Buffer.alloc(4)]);
  chunk.writeUInt32BE(data.length);
  chunk.writeUInt32BE((crc32(chunk.subarray(4, -4)) ^ checksumError) >>> 0, chunk.length - 4);
  return chunk;
};

const PNG_HEADER_END = 33;

/** A PNG with another chunk behind its header. */
export const withPngChunk =
  (...chunk: Parameters<typeof pngChunk>): Damage =>
  (bytes) =>
    Buffer.concat([bytes.subarray(0, PNG_HEADER_END), pngChunk(...chunk), bytes.subarray(PNG_HEADER_END)]);

/** The same picture in all forms that decoders read in another way. */
export const pictures = async ({ widthPixels: width, heightPixels: height }: PixelSize) => {
  const pixels = Buffer.alloc(width * height * 3);
  for (let at = 0; at < pixels.length; at += 1) {
    const [row, column] = [Math.floor(at / 3 / width), Math.floor(at / 3) % width];
    const wave = 60 * Math.sin(column / 40 + (at % 3)) + 60 * Math.sin(row / 50 + 2 * (at % 3));
    pixels[at] = 120 + wave + ((Math.imul(at, 0x9e3779b1) >>> 16) % 12);
  }
  const picture = () => sharp(pixels, { raw: { width, height, channels: 3 } });
  return {
    jpeg: await picture().jpeg().toBuffer(),
    "grey JPEG": await picture().greyscale().jpeg().toBuffer(),
    "CMYK JPEG": await picture().toColourspace("cmyk").jpeg().toBuffer(),
    "JPEG with a profile": await picture().withIccProfile("p3").jpeg().toBuffer(),
    "progressive JPEG": await picture().jpeg({ progressive: true }).toBuffer(),
    png: await picture().png().toBuffer(),
    "PNG with a palette": await picture().png({ palette: true }).toBuffer(),
    "interlaced PNG": await picture().png({ progressive: true }).toBuffer(),
    webp: await picture().webp().toBuffer(),
    "WebP without loss": await picture().webp({ lossless: true }).toBuffer(),
    "WebP with transparency": await picture().ensureAlpha(0.5).webp().toBuffer(),
  };
};

/** A grey JPEG of 32 × 16 blocks of one brightness each, with a restart marker after every 8 blocks. */
export const jpegWithRestarts = (): Buffer => {
  const segment = (marker: number, ...data: number[]) => [0xff, marker, 0, data.length + 2, ...data];
  const ones = (count: number) => Array<number>(count).fill(1);
  // Codes of 4 bits for the differences of brightness, by their size from 0 to 11 bits; one of 1 bit for "no details".
  const tables = [
    ...segment(0xdb, 0, ...ones(64)),
    ...segment(0xc0, 8, 0, 128, 1, 0, 1, 1, 0x11, 0),
    ...segment(0xc4, 0, 0, 0, 0, 12, ...Array<number>(12).fill(0), ...Array(12).keys()),
    ...segment(0xc4, 0x10, 1, ...Array<number>(15).fill(0), 0),
    ...segment(0xdd, 0, 8),
    ...segment(0xda, 1, 1, 0, 0, 63, 0),
  ];
  const data: number[] = [];
  for (let part = 0; part < 64; part += 1) {
    let bits = "";
    for (let block = 0, before = 0; block < 8; block += 1) {
      const level = ((part * 8 + block) * 389) % 1900; // all bytes occur, also 0xff
      const difference = level - 950 - before;
      const size = difference === 0 ? 0 : Math.floor(Math.log2(Math.abs(difference))) + 1;
      const value = difference > 0 ? difference : difference + 2 ** size - 1;
      bits += `${size.toString(2).padStart(4, "0")}${size === 0 ? "" : value.toString(2).padStart(size, "0")}0`;
      before += difference;
    }
    for (const byte of bits.padEnd(Math.ceil(bits.length / 8) * 8, "1").match(/.{8}/g) ?? [])
      data.push(...(byte === "11111111" ? [0xff, 0] : [Number.parseInt(byte, 2)]));
    data.push(0xff, part === 63 ? 0xd9 : 0xd0 + (part % 8));
  }
  return Buffer.from([0xff, 0xd8, ...tables, ...data]);
};
