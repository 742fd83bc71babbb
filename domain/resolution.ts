import { z } from "zod";
import { type Credits, credits } from "./credits.js";

/** Size and price of each resolution (specification, Resolution). */
export const RESOLUTIONS = {
  "1k": { widthPixels: 1024, heightPixels: 512, credits: credits(4) },
  "2k": { widthPixels: 2048, heightPixels: 1024, credits: credits(6) },
  "4k": { widthPixels: 3840, heightPixels: 1920, credits: credits(10) },
} as const satisfies Record<string, PixelSize & { readonly credits: Credits }>;

export type PixelSize = { readonly widthPixels: number; readonly heightPixels: number };

export type Resolution = keyof typeof RESOLUTIONS;

export const resolutionSchema = z.enum(["1k", "2k", "4k"]).meta({
  id: "Resolution",
  description: "1k: 1024 × 512 pixels, 4 credits. 2k: 2048 × 1024, 6 credits. 4k: 3840 × 1920, 10 credits.",
});

export const costOf = (resolution: Resolution): Credits => RESOLUTIONS[resolution].credits;
