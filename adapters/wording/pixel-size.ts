import type { PixelSize } from "../../domain/images/resolution.js";

/** A size as people read it: "4096 × 2048". */
export const pixelSize = ({ widthPixels, heightPixels }: PixelSize): string => `${widthPixels} × ${heightPixels}`;
