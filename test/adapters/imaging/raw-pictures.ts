import sharp, { type Sharp } from "sharp";
import type { RawPanorama } from "../../../adapters/imaging/raw-panorama.js";
import { type PixelSize, RESOLUTIONS } from "../../../domain/images/resolution.js";

export const size = (widthPixels: number, heightPixels: number): PixelSize => ({ widthPixels, heightPixels });
export const small = size(256, 128);
export const target = RESOLUTIONS["1k"];

/** Its pixels, without padding. */
export const rawOf = async (picture: Sharp): Promise<RawPanorama> => {
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels, left: 0 };
};

/** The channels of a pixel. */
export const pixels =
  ({ data, width, channels }: RawPanorama) =>
  (x: number, y: number): number[] => [...data.subarray((y * width + x) * channels, (y * width + x + 1) * channels)];

export const pixelsOf = async (image: Uint8Array) => pixels(await rawOf(sharp(image)));
