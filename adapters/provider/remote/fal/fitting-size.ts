import type { PixelSize } from "../../../../domain/images/resolution.js";
import type { InputShape } from "./fal-schema.js";
import type { KnownLimits } from "./known-limits.js";

/** What models compute in: gpt-image takes nothing else, and others round to it. */
const STEP = 16;

/** The shapes of `width` and `height` in a schema. */
type EdgeShapes = { readonly width: readonly InputShape[]; readonly height: readonly InputShape[] };

/**
 * The 2:1 size within all limits that is nearest to the wanted one: that itself, else the next larger one, else the
 * largest. It is scaled afterwards. `undefined` if no 2:1 size is within the limits.
 */
export const fittingSize = (wanted: PixelSize, { width, height }: EdgeShapes, known: KnownLimits) => {
  const {
    pixelsMin = 0,
    pixelsMax = Number.POSITIVE_INFINITY,
    edgeMin = 0,
    edgeMax = Number.POSITIVE_INFINITY,
  } = known;
  const step = [...width, ...height].reduce((all, { multipleOf = 1 }) => leastCommonMultiple(all, multipleOf), STEP);
  const lowest = Math.max(edgeMin, ...minima(height), ...minima(width).map(half), Math.sqrt(pixelsMin / 2));
  const highest = Math.min(...maxima(height), ...[...maxima(width), edgeMax].map(half), Math.sqrt(pixelsMax / 2));
  const heightPixels = Math.min(
    Math.max(up(wanted.heightPixels, step), up(lowest, step)),
    Math.floor(highest / step) * step,
  );
  return heightPixels > 0 && heightPixels >= lowest ? { widthPixels: 2 * heightPixels, heightPixels } : undefined;
};

const minima = (shapes: readonly InputShape[]) => shapes.map(({ minimum = 0 }) => minimum);
const maxima = (shapes: readonly InputShape[]) => shapes.map(({ maximum = Number.POSITIVE_INFINITY }) => maximum);
const half = (pixels: number): number => pixels / 2;
const up = (pixels: number, step: number): number => Math.ceil(pixels / step) * step;

const leastCommonMultiple = (a: number, b: number): number => {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return (a / x) * b;
};
