import { readFile } from "node:fs/promises";
import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import type { PixelSize } from "../../../domain/images/resolution.js";
import { noise, plain, seamless, withSeam } from "../../support/test-images.js";
import { imaging, size, small, target } from "./sharp-setup.js";

const measured = async (bytes: Uint8Array) => (await imaging.panorama(bytes, target))._unsafeUnwrap();

/** A PNG whose pixels have these colours. PNG keeps every level. */
const drawn = (
  { widthPixels: width, heightPixels: height }: PixelSize,
  colour: (x: number, y: number) => readonly [number, number, number],
): Promise<Buffer> => {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) pixels.set(colour(x, y).map(Math.round), (y * width + x) * 3);
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 1 })
    .toBuffer();
};

/** The same numbers for the same pixel, from 0 to 1. */
const random = (x: number, y: number): number => {
  const scrambled = Math.imul(x + 1, 0x9e3779b1) ^ Math.imul(y + 7, 0x85ebca6b);
  return (Math.imul(scrambled ^ (scrambled >>> 15), 0x2c1b3c6d) >>> 8) / 2 ** 24;
};

/** Figures have two decimals. */
const ROUNDING = 0.005 + 1e-9;
const RUNS = { numRuns: 15 };

describe("SharpImaging.panorama and the ratio of the seam", () => {
  it("equals the step at the seam divided by the step of the other columns", async () => {
    const steps = fc.record({ texture: fc.integer({ min: 4, max: 30 }), step: fc.integer({ min: 0, max: 90 }) });
    await fc.assert(
      fc.asyncProperty(steps, async ({ texture, step }) => {
        // Neighbours differ by the texture. The step is at the seam, and back inside a block of the middle.
        const back = small.widthPixels / 2 + 5;
        const level = (x: number) => 100 + (x % 2) * texture + (x < back ? 0 : step);
        const { seamRatio } = await measured(await drawn(small, (x) => [level(x), level(x), level(x)]));
        expect(Math.abs(seamRatio - (texture + step) / texture)).toBeLessThanOrEqual(ROUNDING);
      }),
      RUNS,
    );
  });

  it.each<[string, () => Promise<Buffer>, number, number]>([
    ["0 in a picture of one colour", () => plain(target).png().toBuffer(), 0, 0],
    ["about 1 in noise", () => noise(target, 0).png().toBuffer(), 0.9, 1.1],
    ["about 1 in a panorama", () => seamless(target).png().toBuffer(), 0.5, 1.5],
    ["not much larger in a JPEG that closes", () => readFile(".github/images/panorama.jpg"), 0.5, 2],
    ["large where nothing else differs", () => withSeam(target, 40).png().toBuffer(), 35, 45],
  ])("is %s", async (_, picture, least, most) => {
    const { seamRatio } = await measured(await picture());
    expect(seamRatio).toBeGreaterThanOrEqual(least);
    expect(seamRatio).toBeLessThanOrEqual(most);
  });
});

describe("SharpImaging.panorama and the poles", () => {
  it("measures the standard deviation of the first and of the last row, and of no other", async () => {
    const spread = fc.integer({ min: 0, max: 100 });
    await fc.assert(
      fc.asyncProperty(spread, spread, async (zenith, nadir) => {
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
        const bytes = await drawn(small, (x, y) => [grey(x, y), grey(x, y), grey(x, y)]);
        const { poleDeviation } = await measured(bytes);
        expect(Math.abs(poleDeviation.zenith - deviation(0))).toBeLessThanOrEqual(ROUNDING);
        expect(Math.abs(poleDeviation.nadir - deviation(last))).toBeLessThanOrEqual(ROUNDING);
      }),
      RUNS,
    );
  });

  it("is 0 at a pole of one colour, also if the colour is not grey", async () => {
    const { poleDeviation } = await measured(await plain(target, "#3366cc").png().toBuffer());
    expect(poleDeviation).toEqual({ zenith: 0, nadir: 0 });
  });
});

describe("SharpImaging.panorama and the horizon", () => {
  it("finds the height at which sky and ground meet", async () => {
    const landscapes = fc.record({
      horizon: fc.double({ min: 0.25, max: 0.75, noNaN: true }),
      grain: fc.integer({ min: 0, max: 40 }),
      brightness: fc.integer({ min: 40, max: 120 }),
    });
    await fc.assert(
      fc.asyncProperty(landscapes, async ({ horizon, grain, brightness }) => {
        const { heightPixels: height } = target;
        const bytes = await drawn(target, (x, y) => {
          const light = grain * random(x, y);
          const isSky = y < horizon * height;
          return isSky ? [120 + light, 150 + light, 210 - (40 * y) / height] : [brightness / 2, brightness + light, 40];
        });
        const found = (await measured(bytes)).horizon;
        expect(Math.abs((found ?? -1) - horizon)).toBeLessThanOrEqual(0.015);
      }),
      RUNS,
    );
  });

  it("finds a horizon that a mountain hides in a part of the picture", async () => {
    const bytes = await drawn(target, (x, y) => {
      const hidden = x > 200 && x < 360;
      return y < target.heightPixels * (hidden ? 0.35 : 0.5) ? [130, 160, 220] : [60, 90, 40];
    });
    expect((await measured(bytes)).horizon).toBeCloseTo(0.5, 1);
  });

  it.each<[string, () => Promise<Buffer>]>([
    ["of one colour", () => plain(target).png().toBuffer()],
    ["of noise", () => noise(target, 0).png().toBuffer()],
    ["that changes evenly from top to bottom", () => seamless(target).png().toBuffer()],
    ["whose steps are at other heights all around", () => stairs()],
  ])("finds none in a picture %s", async (_, picture) => {
    expect((await measured(await picture())).horizon).toBeUndefined();
  });

  const stairs = (): Promise<Buffer> =>
    drawn(target, (x, y) =>
      y < target.heightPixels * (0.3 + (0.4 * x) / target.widthPixels) ? [130, 160, 220] : [60, 90, 40],
    );
});

describe("SharpImaging.panorama and its figures", () => {
  it("measure the result before blending and scaling", async () => {
    const native = size(2048, 1024);
    const bytes = await withSeam(native, 40).png().toBuffer();
    const { seamRatio, bytes: made } = await measured(bytes);
    expect(seamRatio).toBeGreaterThan(35);
    expect((await measured(made)).seamRatio).toBeLessThan(seamRatio / 5);
  });
});
