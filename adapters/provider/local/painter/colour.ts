import { clamp01 } from "./noise.js";

/** Linear red, green and blue: 1 is white; light sources such as the sun may be far above 1. */
export type Rgb = readonly [red: number, green: number, blue: number];
/** A mutable colour. Painters reuse one instead of allocating millions. */
export type Paint = [red: number, green: number, blue: number];

/** From `#rrggbb` in sRGB. */
export const colour = (hex: string): Rgb => {
  const channel = (from: number) => linear(Number.parseInt(hex.slice(from, from + 2), 16) / 255);
  return [channel(1), channel(3), channel(5)];
};

export const linear = (srgb: number): number => (srgb <= 0.04045 ? srgb / 12.92 : ((srgb + 0.055) / 1.055) ** 2.4);

export const mixed = (from: Rgb, to: Rgb, share: number): Rgb => [
  from[0] + (to[0] - from[0]) * share,
  from[1] + (to[1] - from[1]) * share,
  from[2] + (to[2] - from[2]) * share,
];

export const scaled = (paint: Rgb, factor: number): Rgb => [paint[0] * factor, paint[1] * factor, paint[2] * factor];

export const luminance = ([red, green, blue]: Rgb): number => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

export const set = (paint: Paint, value: Rgb): void => {
  paint[0] = value[0];
  paint[1] = value[1];
  paint[2] = value[2];
};

/** Blends `over` over `paint` with the given opacity. */
export const cover = (paint: Paint, over: Rgb, opacity: number): void => {
  paint[0] += (over[0] - paint[0]) * opacity;
  paint[1] += (over[1] - paint[1]) * opacity;
  paint[2] += (over[2] - paint[2]) * opacity;
};

/** Adds light. */
export const shine = (paint: Paint, light: Rgb, strength: number): void => {
  paint[0] += light[0] * strength;
  paint[1] += light[1] * strength;
  paint[2] += light[2] * strength;
};

/** Adds a share of the paint to a row of a column of light, three numbers per row. */
export const addToRow = (light: Float32Array, row: number, paint: Paint, share: number): void => {
  const at = row * 3;
  light[at] = (light[at] as number) + paint[0] * share;
  light[at + 1] = (light[at + 1] as number) + paint[1] * share;
  light[at + 2] = (light[at + 2] as number) + paint[2] * share;
};

export const multiply = (paint: Paint, light: Rgb): void => {
  paint[0] *= light[0];
  paint[1] *= light[1];
  paint[2] *= light[2];
};

const SHOULDER = 0.62;
const TABLE_STEPS = 8192;
const TABLE_MAX = 6;

/** Filmic tone mapping: keeps dark values and compresses bright ones towards white; then converts to sRGB. */
const develop = (light: number): number => {
  const shown =
    light <= SHOULDER ? light : SHOULDER + (1 - SHOULDER) * (1 - Math.exp((SHOULDER - light) / (1 - SHOULDER)));
  return shown <= 0.0031308 ? 12.92 * shown : 1.055 * shown ** (1 / 2.4) - 0.055;
};

/** Indexed by the square root of the light, which follows the steps of sRGB closely. */
const developed = Float32Array.from(
  { length: TABLE_STEPS + 2 },
  (_, step) => 255 * develop((step / TABLE_STEPS) ** 2 * TABLE_MAX),
);

/** One channel as a byte; `dither` in [-1, 1) hides banding in smooth skies. */
export const byteOf = (light: number, dither: number): number => {
  const position = Math.sqrt(clamp01(light / TABLE_MAX)) * TABLE_STEPS;
  const step = position | 0;
  const below = developed[step] as number;
  const value = below + ((developed[step + 1] as number) - below) * (position - step) + 0.5 + 0.7 * dither;
  return value < 0 ? 0 : value > 255 ? 255 : value | 0;
};

/**
 * A direction on the unit sphere, in a row of the picture. One object is reused for all pixels: fractions that are
 * passed to a function one by one would make the compiler allocate memory.
 */
export type Ray = {
  row: number;
  x: number;
  y: number;
  z: number;
  /** The angle to the sun or moon in radians. */
  angleToLight: number;
};
