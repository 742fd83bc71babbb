import type { Credits } from "./credits.js";
import { PANORAMA_POLICY } from "./panorama-policy.js";

const { prices } = PANORAMA_POLICY;

/** Size and price of each resolution (specification, Resolution). */
export const RESOLUTIONS = {
  "1k": { widthPixels: 1024, heightPixels: 512, credits: prices["1k"] },
  "2k": { widthPixels: 2048, heightPixels: 1024, credits: prices["2k"] },
  "4k": { widthPixels: 3840, heightPixels: 1920, credits: prices["4k"] },
} as const satisfies Record<keyof typeof prices, PixelSize & { readonly credits: Credits }>;

export type PixelSize = { readonly widthPixels: number; readonly heightPixels: number };

export type Resolution = keyof typeof RESOLUTIONS;

export const costOf = (resolution: Resolution): Credits => RESOLUTIONS[resolution].credits;
