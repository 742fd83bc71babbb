import sharp, { type Sharp } from "sharp";
import { at, type RawPanorama } from "../../../adapters/imaging/raw-panorama.js";
import { type PixelSize, RESOLUTIONS } from "../../../domain/images/resolution.js";

export const size = (widthPixels: number, heightPixels: number): PixelSize => ({ widthPixels, heightPixels });
export const small = size(256, 128);
export const target = RESOLUTIONS["1k"];

/** Its pixels, with `left` columns of padding at each edge. */
export const rawOf = async (picture: Sharp, left = 0): Promise<RawPanorama> => {
  const padded = picture.extend({ left, right: left, extendWith: "repeat" });
  const { data, info } = await padded.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width - 2 * left, height: info.height, channels: info.channels, left };
};

/** The channels of a pixel. */
export const pixels =
  (raw: RawPanorama) =>
  (x: number, y: number): number[] => [...raw.data.subarray(at(raw, x, y), at(raw, x + 1, y))];

export const pixelsOf = async (image: Uint8Array) => pixels(await rawOf(sharp(image)));
