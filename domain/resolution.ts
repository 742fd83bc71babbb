import type { Credits } from "./credits.js";
import { PANORAMA_POLICY } from "./panorama-policy.js";

const { prices } = PANORAMA_POLICY;

/** Size and price of each resolution (specification, Resolution). */
export const RESOLUTIONS = {
  "1k": { widthPixels: 1024, heightPixels: 512, credits: prices["1k"] },
  "2k": { widthPixels: 2048, heightPixels: 1024, credits: prices["2k"] },
  "4k": { widthPixels: 3840, heightPixels: 1920, credits: prices["4k"] },
} as const satisfies Record<keyof typeof prices, PixelSize & { readonly credits: Credits }>;

/** Width and height of an image. */
export type PixelSize = { readonly widthPixels: number; readonly heightPixels: number };

/** One of `RESOLUTIONS`. */
export type Resolution = keyof typeof RESOLUTIONS;

/** From small to large. */
export const RESOLUTION_NAMES = ["1k", "2k", "4k"] as const satisfies readonly Resolution[];

/** `1k: 1024 × 512 pixels, 4 credits.` and so on. */
export const RESOLUTIONS_DESCRIPTION = RESOLUTION_NAMES.map((name) => {
  const { widthPixels, heightPixels, credits } = RESOLUTIONS[name];
  return `${name}: ${widthPixels} × ${heightPixels} pixels, ${credits} credits.`;
}).join(" ");

/** The price of one panorama. */
export const costOf = (resolution: Resolution): Credits => RESOLUTIONS[resolution].credits;
