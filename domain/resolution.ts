import { type Credits, credits } from "./credits.js";

/** Size and price of each resolution (specification, Resolution). */
export const RESOLUTIONS = {
  "1k": { widthPixels: 1024, heightPixels: 512, credits: credits(4) },
  "2k": { widthPixels: 2048, heightPixels: 1024, credits: credits(6) },
  "4k": { widthPixels: 3840, heightPixels: 1920, credits: credits(10) },
} as const satisfies Record<string, PixelSize & { readonly credits: Credits }>;

export type PixelSize = { readonly widthPixels: number; readonly heightPixels: number };

export type Resolution = keyof typeof RESOLUTIONS;

export const costOf = (resolution: Resolution): Credits => RESOLUTIONS[resolution].credits;
