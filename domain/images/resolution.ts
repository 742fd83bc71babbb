import type { Credits } from "../credits/credits.js";

/** Size of each resolution (specification, Resolution). Its price is in the policy (panorama-policy.ts). */
export const RESOLUTIONS = {
  "1k": { widthPixels: 1024, heightPixels: 512 },
  "2k": { widthPixels: 2048, heightPixels: 1024 },
  "4k": { widthPixels: 3840, heightPixels: 1920 },
} as const satisfies Record<string, PixelSize>;

/** Width and height of an image. */
export type PixelSize = { readonly widthPixels: number; readonly heightPixels: number };

/** One of `RESOLUTIONS`. */
export type Resolution = keyof typeof RESOLUTIONS;

/** Cost of one panorama, by resolution. */
export type Prices = Readonly<Record<Resolution, Credits>>;

/** All resolutions, from small to large. */
export const RESOLUTION_NAMES = ["1k", "2k", "4k"] as const satisfies readonly Resolution[];

/** `1k: 1024 × 512 pixels.` and so on; with prices `1k: 1024 × 512 pixels, 4 credits.` */
export const resolutionsDescription = (prices?: Prices): string =>
  RESOLUTION_NAMES.map((name) => {
    const { widthPixels, heightPixels } = RESOLUTIONS[name];
    return `${name}: ${widthPixels} × ${heightPixels} pixels${prices ? `, ${prices[name]} credits` : ""}.`;
  }).join(" ");
