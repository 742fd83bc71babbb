import type { Size } from "./sphere.js";

/*
 * How many pixels of a canvas are drawn for a CSS pixel. Without a graphics card, the main thread waits for each frame,
 * and an input for the frame before it and for its own. So fewer pixels are drawn while a view moves.
 */

/** At least. */
export const DENSITY_MIN = 0.375;
/** The density changes in steps of this size, because each change clears the canvas. */
const DENSITY_STEP = 0.125;
/** A frame that takes longer is late. Two of them, and what the browser does until they are seen, take 100 ms. */
const LATE_MILLISECONDS = 34;
/** A frame of which twice as many pixels would be in time. */
const SHORT_MILLISECONDS = 17;
const GROWTH = 1.1;

/**
 * The density of the next frame. `waited`: it began so long after it was requested. `taken`: the one before it kept the
 * main thread so long. Browsers that save power draw 30 frames a second, so a frame that waited for that may be short.
 */
export const nextDensity = (
  density: number,
  { waited, taken }: { readonly waited: number; readonly taken: number },
  max: number,
): number => {
  const longest = Math.max(waited, taken);
  const factor =
    longest > LATE_MILLISECONDS ? Math.sqrt(LATE_MILLISECONDS / longest) : taken < SHORT_MILLISECONDS ? GROWTH : 1;
  return Math.min(max, Math.max(DENSITY_MIN, density * factor));
};

/** The pixels of a canvas that covers so many CSS pixels. */
export const canvasSize = ({ width, height }: Size, density: number, max: number): Size => {
  const step = Math.min(max, Math.round(density / DENSITY_STEP) * DENSITY_STEP);
  const pixels = (length: number): number => Math.max(1, Math.round(length * step));
  return { width: pixels(width), height: pixels(height) };
};

/** The times of frames, for `nextDensity`. */
export class FrameTimes {
  private asked = 0;
  private taken = 0;

  /** The next frame is requested. */
  ask(): void {
    this.asked = performance.now();
  }

  /** It begins. What comes after it in the event loop begins when the browser has drawn it. */
  begin(): { readonly waited: number; readonly taken: number } {
    const since = performance.now();
    const { taken } = this;
    setTimeout(() => {
      this.taken = performance.now() - since;
    });
    return { waited: since - this.asked, taken };
  }
}
