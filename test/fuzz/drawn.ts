import fc from "fast-check";

/**
 * The n-th value of a seed. Each value has a seed of its own, so that any one of them can be drawn alone again:
 * neighbouring seeds would give similar values, so they are scrambled.
 */
export const drawn = <T>(values: fc.Arbitrary<T>, seed: number, n: number): T => {
  let mixed = (seed ^ Math.imul(n + 1, 0x9e3779b1)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  const [value] = fc.sample(values, { seed: mixed ^ (mixed >>> 16), numRuns: 1 });
  return value as T;
};
