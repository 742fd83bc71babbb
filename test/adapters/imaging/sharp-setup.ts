import sharp from "sharp";
import { sharpImaging } from "../../../adapters/imaging/sharp-imaging.js";
import { type PixelSize, RESOLUTIONS } from "../../../domain/images/resolution.js";

export const imaging = sharpImaging();
export const size = (widthPixels: number, heightPixels: number): PixelSize => ({ widthPixels, heightPixels });
export const small = size(256, 128);
export const target = RESOLUTIONS["1k"];

export const pixels = async (image: Uint8Array) => {
  const { data, info } = await sharp(image).raw().toBuffer({ resolveWithObject: true });
  return (x: number, y: number): number[] => [
    ...data.subarray((y * info.width + x) * info.channels, (y * info.width + x + 1) * info.channels),
  ];
};
