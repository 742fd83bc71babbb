import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canvasSize, DENSITY_MIN, nextDensity } from "../../../adapters/web/client/viewer/density.js";

const milliseconds = fc.double({ min: 0, max: 10_000, noNaN: true });
const max = fc.double({ min: DENSITY_MIN, max: 2, noNaN: true });

/** The densities of so many frames, each of which takes as long as its pixels need. */
const frames = (millisecondsAtOne: number, max: number, count = 60): number[] => {
  const densities = [DENSITY_MIN];
  while (densities.length < count) {
    const density = densities.at(-1) ?? 0;
    densities.push(nextDensity(density, millisecondsAtOne * density ** 2, max));
  }
  return densities;
};

describe("the density of a view that moves", () => {
  it("stays within its limits", () => {
    fc.assert(
      fc.property(fc.double({ min: DENSITY_MIN, max: 2, noNaN: true }), milliseconds, max, (density, taken, limit) => {
        const next = nextDensity(density, taken, limit);
        expect(next).toBeGreaterThanOrEqual(DENSITY_MIN);
        expect(next).toBeLessThanOrEqual(limit);
      }),
    );
  });

  it("is no greater after a frame that was later", () => {
    fc.assert(
      fc.property(milliseconds, milliseconds, max, (one, other, limit) => {
        const [short, long] = [Math.min(one, other), Math.max(one, other)];
        expect(nextDensity(1, long, limit)).toBeLessThanOrEqual(nextDensity(1, short, limit));
      }),
    );
  });

  it("settles where a frame is in time, unless that is below its minimum", () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 400, noNaN: true }), max, (millisecondsAtOne, limit) => {
        const last = frames(millisecondsAtOne, limit).slice(-10);
        const wanted = Math.max(DENSITY_MIN, Math.min(limit, Math.sqrt(12 / millisecondsAtOne)));
        for (const density of last) {
          if (density > DENSITY_MIN) expect(millisecondsAtOne * density ** 2).toBeLessThanOrEqual(34);
          expect(density).toBeGreaterThanOrEqual(wanted * 0.999);
        }
      }),
    );
  });

  it("is full after 20 frames where drawing costs nothing", () => {
    expect(frames(0, 2, 20).at(-1)).toBe(2);
  });

  it("gives a canvas all pixels of the screen at its maximum, and steps of them below", () => {
    const size = { width: 800, height: 600 };
    expect(canvasSize(size, 1.25, 1.25)).toEqual({ width: 1000, height: 750 });
    expect(canvasSize(size, 1.9, 1.25)).toEqual({ width: 1000, height: 750 });
    expect(canvasSize(size, 0.52, 2)).toEqual({ width: 400, height: 300 });
    expect(canvasSize({ width: 0, height: 0 }, 1, 1)).toEqual({ width: 1, height: 1 });
  });
});
