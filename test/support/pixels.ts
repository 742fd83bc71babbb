import type { Page } from "playwright-core";
import sharp from "sharp";
import { QUARTERS } from "./web-service.js";

/** The colour of this point of the window: red, green and blue from 0 to 255. */
export const pixelAt = async (page: Page, x: number, y: number): Promise<[number, number, number]> => {
  // So many CSS pixels are one pixel in a coarse tab.
  const shot = await page.screenshot({ clip: { x, y, width: 4, height: 4 } });
  const [red = 0, green = 0, blue = 0] = await sharp(shot).removeAlpha().raw().toBuffer();
  return [red, green, blue];
};

/** The quarter of the test image at this point of the window: 0 to 3, or -1 for any other colour. */
export const quarterAt = async (page: Page, x: number, y: number): Promise<number> =>
  quarterOf(await pixelAt(page, x, y));

/** The quarter of the test image that has this colour, or -1. */
export const quarterOf = ([red, green, blue]: readonly [number, number, number]): number =>
  QUARTERS.findIndex((colour) => {
    const value = Number.parseInt(colour.slice(1), 16);
    // JPEG and WebGL round the colours.
    return [red - (value >> 16), green - ((value >> 8) & 255), blue - (value & 255)].every((off) => Math.abs(off) < 12);
  });

/** The quarters of the test image in the middle of the left and the right half of this picture. */
export const halvesOf = async (picture: Uint8Array): Promise<number[]> => {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return [0.25, 0.75].map((part) => {
    const at = (Math.floor(info.height / 2) * info.width + Math.floor(part * info.width)) * 3;
    return quarterOf([data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0]);
  });
};
