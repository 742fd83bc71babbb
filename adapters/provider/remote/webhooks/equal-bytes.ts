import { timingSafeEqual } from "node:crypto";

/** Compares in constant time, so that the time does not tell where two secrets of the same length differ. */
export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);
