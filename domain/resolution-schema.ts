import { z } from "zod";
import { RESOLUTIONS, type Resolution } from "./resolution.js";

const NAMES = ["1k", "2k", "4k"] as const satisfies readonly Resolution[];

/** `1k: 1024 × 512 pixels, 4 credits.` and so on. */
const description = NAMES.map((name) => {
  const { widthPixels, heightPixels, credits } = RESOLUTIONS[name];
  return `${name}: ${widthPixels} × ${heightPixels} pixels, ${credits} credits.`;
}).join(" ");

/** Parses the name of a resolution. Apart from `resolution.ts`, so that tasks and credits need no parser. */
export const resolutionSchema = z.enum(NAMES).meta({ id: "Resolution", description });
