/*
 * How many pixels of a canvas are drawn for a CSS pixel. Without a graphics card, all of them take longer than a frame
 * of the screen. So fewer are drawn while a view moves.
 */

export type Size = { readonly width: number; readonly height: number };

/** At least. */
export const DENSITY_MIN = 0.375;
/** The density changes in steps of this size, because each change clears the canvas. */
const DENSITY_STEP = 0.125;
/** A frame that takes longer is late. */
const LATE_MILLISECONDS = 34;
/** After a frame that takes less, the next one may have more pixels. */
const SHORT_MILLISECONDS = 12;
const GROWTH = 1.1;

/** The density of the next frame, after one that took so long. */
export const nextDensity = (density: number, milliseconds: number, max: number): number => {
  const isLate = milliseconds > LATE_MILLISECONDS;
  const factor = isLate ? Math.sqrt(LATE_MILLISECONDS / milliseconds) : milliseconds < SHORT_MILLISECONDS ? GROWTH : 1;
  return Math.min(max, Math.max(DENSITY_MIN, density * factor));
};

/** The pixels of a canvas that covers so many CSS pixels. */
export const canvasSize = ({ width, height }: Size, density: number, max: number): Size => {
  const step = Math.min(max, Math.round(density / DENSITY_STEP) * DENSITY_STEP);
  const pixels = (length: number): number => Math.max(1, Math.round(length * step));
  return { width: pixels(width), height: pixels(height) };
};
