import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import wabt from "wabt";
import { Noise } from "../../../../adapters/provider/local/painter/noise.js";

const PAINTER = "adapters/provider/local/painter";

// What the noise is: pixels.slow.test.ts, by its pictures.
it("the code of the noise kernel is the compiled noise-kernel.wat (after a change: vitest run --update)", async () => {
  const { parseWat } = await wabt();
  const module = parseWat("noise-kernel.wat", await readFile(`${PAINTER}/noise-kernel.wat`, "utf8"), { simd: true });
  const code = Buffer.from(module.toBinary({}).buffer).toString("base64");
  const file = `/** Compiled from noise-kernel.wat; do not edit. In base64. */\nexport const NOISE_KERNEL =\n  "${code}";\n`;
  await expect(file).toMatchFileSnapshot(`../../../../${PAINTER}/noise-kernel-code.ts`);
});

const aPlace = fc.double({ min: -100_000, max: 100_000, noNaN: true });
const someOctaves = fc.double({ min: -1, max: 8, noNaN: true });

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
