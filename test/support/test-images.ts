import { deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";
import type { PixelSize } from "../../domain/images/resolution.js";

/**
 * An image without a visible seam between its left and right edge, like a panorama: red and green are waves around the
 * horizon, blue decreases from the zenith to the nadir.
 */
export const seamless = ({ widthPixels, heightPixels }: PixelSize): Sharp => {
  const pixels = Buffer.alloc(widthPixels * heightPixels * 3);
  const angles = Array.from({ length: widthPixels }, (_, x) => ((x + 0.5) / widthPixels) * 2 * Math.PI);
  const red = Uint8Array.from(angles, (angle) => 128 + 100 * Math.sin(angle));
  const green = Uint8Array.from(angles, (angle) => 128 + 100 * Math.sin(24 * angle + 1));
  for (let y = 0, at = 0; y < heightPixels; y += 1) {
    const blue = 255 - (255 * y) / heightPixels;
    for (let x = 0; x < widthPixels; x += 1) {
      pixels[at++] = red[x] ?? 0;
      pixels[at++] = green[x] ?? 0;
      pixels[at++] = blue;
    }
  }
  return sharp(pixels, { raw: { width: widthPixels, height: heightPixels, channels: 3 } });
};

/**
 * A panorama whose right edge is brighter than its left one by `levels`, in the upper part of its height. The
 * brightness grows from left to right.
 */
export const withSeam = ({ widthPixels, heightPixels }: PixelSize, levels: number, upperPart = 1): Sharp => {
  const pixels = Buffer.alloc(widthPixels * heightPixels * 3);
  for (let y = 0, at = 0; y < heightPixels; y += 1) {
    const step = y < heightPixels * upperPart ? levels : 0;
    for (let x = 0; x < widthPixels; x += 1) {
      const angle = ((x + 0.5) / widthPixels) * 2 * Math.PI;
      const brightness = 100 + 30 * Math.sin(3 * angle) + (step * x) / (widthPixels - 1);
      pixels[at++] = brightness;
      pixels[at++] = brightness;
      pixels[at++] = brightness + 20;
    }
  }
  return sharp(pixels, { raw: { width: widthPixels, height: heightPixels, channels: 3 } });
};

/** A grey noise image, rotated to the left by `rotatedBy` columns. */
export const noise = ({ widthPixels, heightPixels }: PixelSize, rotatedBy: number): Sharp => {
  const pixels = Buffer.alloc(widthPixels * heightPixels * 3);
  for (let y = 0, at = 0; y < heightPixels; y += 1) {
    for (let x = 0; x < widthPixels; x += 1) {
      const scrambled = Math.imul((((x + rotatedBy) % widthPixels) + 1) * 8191 + y, 0x9e3779b1);
      const grey = ((scrambled ^ (scrambled >>> 15)) >>> 8) & 0xff;
      pixels[at++] = grey;
      pixels[at++] = grey;
      pixels[at++] = grey;
    }
  }
  return sharp(pixels, { raw: { width: widthPixels, height: heightPixels, channels: 3 } });
};

/** An image of one colour. */
export const plain = ({ widthPixels: width, heightPixels: height }: PixelSize, background = "#336699"): Sharp =>
  sharp({ create: { width, height, channels: 3, background }, limitInputPixels: false });

/** A small PNG file of an image of any size: black, one bit per pixel. */
export const bombPng = ({ widthPixels, heightPixels }: PixelSize): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(widthPixels, 0);
  header.writeUInt32BE(heightPixels, 4);
  header[8] = 1; // bit depth; the other bytes are 0: greyscale, no interlacing
  const pixels = deflateSync(Buffer.alloc(heightPixels * (1 + Math.ceil(widthPixels / 8))), { level: 9 });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
};

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
};

/** The checksum of PNG. The types of Node 20.19 do not declare `zlib.crc32`. */
const crc32 = (bytes: Buffer): number => {
  let remainder = 0xffffffff;
  for (const byte of bytes) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit += 1) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0xedb88320 : 0);
  }
  return ~remainder >>> 0;
};
