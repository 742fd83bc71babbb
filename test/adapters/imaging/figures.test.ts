import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { measuresOf } from "../../../adapters/imaging/figures.js";
import type { PixelSize } from "../../../domain/images/resolution.js";
import { noise, plain, seamless, withSeam } from "../../support/test-images.js";
import { rawOf, small, target } from "./raw-pictures.js";

/** Columns of padding, as before a resize. */
const PADDING = 5;

/** A picture whose pixels have these colours. */
const drawn = (
  { widthPixels: width, heightPixels: height }: PixelSize,
  colour: (x: number, y: number) => readonly [number, number, number],
) => {
  const columns = width + 2 * PADDING;
  const data = new Uint8Array(columns * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let column = 0; column < columns; column += 1) {
      const x = (column - PADDING + width) % width;
      data.set(colour(x, y).map(Math.round), (y * columns + column) * 3);
    }
  }
  return { data, width, height, channels: 3, left: PADDING };
};

/** The same numbers for the same pixel, from 0 to 1. */
const random = (x: number, y: number): number => {
  const scrambled = Math.imul(x + 1, 0x9e3779b1) ^ Math.imul(y + 7, 0x85ebca6b);
  return (Math.imul(scrambled ^ (scrambled >>> 15), 0x2c1b3c6d) >>> 8) / 2 ** 24;
};

/** Figures have two decimals. */
const ROUNDING = 0.005 + 1e-9;
const RUNS = { numRuns: 15 };

const even = fc.nat(127).map((half) => 2 * half);

it("the colour is the mean of the picture, also of a grey one", () => {
  fc.assert(
    fc.property(fc.tuple(even, even, even), ([red, green, blue]) => {
      const halves = drawn(small, (x) => (x < small.widthPixels / 2 ? [red, green, blue] : [0, 0, 0]));
      const hex = (value: number) => value.toString(16).padStart(2, "0");
      expect(measuresOf(halves).colour).toBe(`#${[red, green, blue].map((value) => hex(value / 2)).join("")}`);
      const { widthPixels: width, heightPixels: height } = small;
      const grey = { data: new Uint8Array(width * height).fill(red), width, height, channels: 1, left: 0 };
      expect(measuresOf(grey).colour).toBe(`#${hex(red).repeat(3)}`);
    }),
    RUNS,
  );
});

describe("the ratio of the seam", () => {
  it("equals the step at the seam divided by the step of the other columns", () => {
    const steps = fc.record({ texture: fc.integer({ min: 4, max: 30 }), step: fc.integer({ min: 0, max: 90 }) });
    fc.assert(
      fc.property(steps, ({ texture, step }) => {
        // Neighbours differ by the texture. The step is at the seam, and back inside a block of the middle.
        const back = small.widthPixels / 2 + 5;
        const level = (x: number) => 100 + (x % 2) * texture + (x < back ? 0 : step);
        const { seamRatio } = measuresOf(drawn(small, (x) => [level(x), level(x), level(x)]));
        expect(Math.abs(seamRatio - (texture + step) / texture)).toBeLessThanOrEqual(ROUNDING);
      }),
      RUNS,
    );
  });

  it.each([
    ["not much larger in a JPEG that closes", () => sharp(".github/images/panorama.jpg"), 0.5, 2],
    ["large where nothing else differs", () => withSeam(target, 40), 35, 45],
  ])("is %s", async (_, picture, least, most) => {
    const { seamRatio } = measuresOf(await rawOf(picture()));
    expect(seamRatio).toBeGreaterThanOrEqual(least);
    expect(seamRatio).toBeLessThanOrEqual(most);
  });
});

describe("the figures of the poles", () => {
  it("are the standard deviations of the first and of the last row, and of no other", () => {
    const spread = fc.integer({ min: 0, max: 100 });
    fc.assert(
      fc.property(spread, spread, (zenith, nadir) => {
        const { widthPixels: width, heightPixels: height } = small;
        const last = height - 1;
        const grey = (x: number, y: number): number => {
          if (y === 0) return Math.round(100 + zenith * random(x, y));
          return y === last ? Math.round(100 + nadir * random(x, y)) : 200 * random(x, y);
        };
        const deviation = (y: number): number => {
          const row = Array.from({ length: width }, (_, x) => grey(x, y));
          const mean = row.reduce((sum, value) => sum + value, 0) / width;
          return Math.sqrt(row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width);
        };
        const { poleDeviation } = measuresOf(drawn(small, (x, y) => [grey(x, y), grey(x, y), grey(x, y)]));
        expect(Math.abs(poleDeviation.zenith - deviation(0))).toBeLessThanOrEqual(ROUNDING);
        expect(Math.abs(poleDeviation.nadir - deviation(last))).toBeLessThanOrEqual(ROUNDING);
      }),
      RUNS,
    );
  });

  it("are 0 in a picture of one colour, also if the colour is not grey", async () => {
    const { poleDeviation, seamRatio } = measuresOf(await rawOf(plain(small, "#3366cc")));
    expect([poleDeviation, seamRatio]).toEqual([{ zenith: 0, nadir: 0 }, 0]);
  });
});

describe("the horizon", () => {
  it("is the height at which sky and ground meet", () => {
    const landscapes = fc.record({
      horizon: fc.double({ min: 0.25, max: 0.75, noNaN: true }),
      grain: fc.integer({ min: 0, max: 40 }),
      brightness: fc.integer({ min: 40, max: 120 }),
    });
    fc.assert(
      fc.property(landscapes, ({ horizon, grain, brightness }) => {
        const { heightPixels: height } = small;
        const picture = drawn(small, (x, y) => {
          const light = grain * random(x, y);
          const isSky = y < horizon * height;
          return isSky ? [120 + light, 150 + light, 210 - (40 * y) / height] : [brightness / 2, brightness + light, 40];
        });
        expect(Math.abs((measuresOf(picture).horizon ?? -1) - horizon)).toBeLessThanOrEqual(0.015);
      }),
      RUNS,
    );
  });

  it("is found if a mountain hides a part of it", () => {
    const picture = drawn(target, (x, y) => {
      const hidden = x > 200 && x < 360;
      return y < target.heightPixels * (hidden ? 0.35 : 0.5) ? [130, 160, 220] : [60, 90, 40];
    });
    expect(measuresOf(picture).horizon).toBeCloseTo(0.5, 1);
  });

  it.each([
    ["of one colour", () => rawOf(plain(target))],
    ["of noise", () => rawOf(noise(target, 0))],
    ["that changes evenly from top to bottom", () => rawOf(seamless(target))],
    ["whose steps are at other heights all around", async () => stairs()],
  ])("is not found in a picture %s", async (_, picture) => {
    expect(measuresOf(await picture()).horizon).toBeUndefined();
  });

  const stairs = () =>
    drawn(target, (x, y) =>
      y < target.heightPixels * (0.3 + (0.4 * x) / target.widthPixels) ? [130, 160, 220] : [60, 90, 40],
    );
});
