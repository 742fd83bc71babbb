import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import wabt from "wabt";
import { Noise, randomsFrom } from "../../../../adapters/provider/local/painter/noise.js";

const PAINTER = "adapters/provider/local/painter";

it("the code of the noise kernel is the compiled noise-kernel.wat (after a change: vitest run --update)", async () => {
  const { parseWat } = await wabt();
  const module = parseWat("noise-kernel.wat", await readFile(`${PAINTER}/noise-kernel.wat`, "utf8"), { simd: true });
  const code = Buffer.from(module.toBinary({}).buffer).toString("base64");
  const file = `/** Compiled from noise-kernel.wat; do not edit. In base64. */\nexport const NOISE_KERNEL =\n  "${code}";\n`;
  await expect(file).toMatchFileSnapshot(`../../../../${PAINTER}/noise-kernel-code.ts`);
});

/** The definition of the noise in the plane, step by step in TypeScript. */
const definedNoise = (seed: number) => {
  const random = randomsFrom(seed);
  const order = Array.from({ length: 256 }, (_, index) => index);
  for (let last = 255; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  /** The noise of the slope at a corner of the grid, at (x, y) from it. */
  const atCorner = (column: number, row: number, x: number, y: number) => {
    const angle = (order[(order[column & 255]! + (row & 255)) & 255]! / 256) * 2 * Math.PI;
    return 1.15 * Math.cos(angle) * x + 1.15 * Math.sin(angle) * y;
  };
  const fade = (t: number) => t * t * t * (t * (t * 6 - 15) + 10);
  const lerp = (from: number, to: number, share: number) => from + (to - from) * share;
  const octave = (x: number, y: number) => {
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const [fx, fy] = [x - column, y - row];
    // The order wraps around after 256 columns; see the table of 512 bytes.
    const east = (column & 255) + 1;
    const low = lerp(atCorner(column, row, fx, fy), atCorner(east, row, fx - 1, fy), fade(fx));
    const high = lerp(atCorner(column, row + 1, fx, fy - 1), atCorner(east, row + 1, fx - 1, fy - 1), fade(fx));
    return lerp(low, high, fade(fy));
  };
  return (x: number, y: number, octaves: number): number => {
    let sum = 0;
    let strength = 0.5;
    for (let left = octaves; left > 0; left--) {
      sum += strength * Math.min(left, 1) * octave(x, y);
      [x, y] = [1.6 * x + 1.2 * y + 17.3, 1.6 * y - 1.2 * x + 5.9];
      strength *= 0.5;
    }
    return sum;
  };
};

const aPlace = fc.double({ min: -100_000, max: 100_000, noNaN: true });
const someOctaves = fc.double({ min: -1, max: 8, noNaN: true });

it("noise in the plane is exactly the defined sum of octaves", () => {
  fc.assert(
    fc.property(fc.integer(), aPlace, aPlace, someOctaves, (seed, x, y, octaves) => {
      const noise = new Noise(seed);
      expect(noise.fractal2(x, y, octaves)).toBe(definedNoise(seed)(x, y, octaves));
      expect(noise.at2(x, y)).toBe(2 * definedNoise(seed)(x, y, 1));
    }),
    { numRuns: 500 },
  );
});

it("noise in the plane is exact above a floor, and never above it where the sum is below", () => {
  const noise = new Noise(7);
  const aFloor = fc.double({ min: -1, max: 1, noNaN: true });
  fc.assert(
    fc.property(aPlace, aPlace, someOctaves, aFloor, (x, y, octaves, floor) => {
      const sum = noise.fractal2(x, y, octaves);
      const found = noise.fractal2(x, y, octaves, floor);
      if (sum >= floor) expect(found).toBe(sum);
      else expect(found).toBeLessThan(floor);
    }),
    { numRuns: 2000 },
  );
});
