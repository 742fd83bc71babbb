import { timingSafeEqual } from "node:crypto";

/** In a time that tells nothing about where two secrets of the same length differ. */
export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);
