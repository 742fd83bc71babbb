import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { paintColumns } from "../../../../adapters/provider/local/painter/paint.js";
import type { Reference } from "../../../../adapters/provider/local/painter/references.js";
import { sceneOf } from "../../../../adapters/provider/local/painter/scene-of.js";

/** A reference image of coloured noise. */
const REFERENCE: Reference = {
  widthPixels: 64,
  heightPixels: 48,
  pixels: Uint8Array.from({ length: 64 * 48 * 3 }, (_, at) => (at * 7919) % 251),
};

/** All columns of a picture, or some of them. */
const painted = (
  prompt: string | undefined,
  references: readonly Reference[],
  widthPixels: number,
  columns?: number[],
) => {
  const size = { widthPixels, heightPixels: widthPixels / 2 };
  const pixels = new Uint8Array(widthPixels * size.heightPixels * 3);
  const [from = 0, to = widthPixels] = columns ?? [];
  paintColumns({ scene: sceneOf(prompt, references), references, size, from, to, pixels });
  return pixels;
};

const WIDTH = 160;
const HEIGHT = 80;

/** A hash of the picture at 160 pixels, and of some columns at 2048, where upright edges are painted differently. */
const hashOf = (prompt: string | undefined, references: readonly Reference[] = []): string => {
  const [small, large] = [painted(prompt, references, WIDTH), painted(prompt, references, 2048, [1000, 1008])];
  return createHash("sha256").update(small).update(large).digest("hex").slice(0, 16);
};

/** Mean difference of two columns, in steps of one byte. */
const columnDifference = (pixels: Uint8Array, one: number, other: number): number => {
  let sum = 0;
  for (let row = 0; row < HEIGHT; row++) {
    for (let channel = 0; channel < 3; channel++) {
      const at = (column: number) => pixels[(row * WIDTH + column) * 3 + channel]!;
      sum += Math.abs(at(one) - at(other));
    }
  }
  return sum / (HEIGHT * 3);
};

/** The largest difference within a row, the mean of its channels. */
const rowRange = (pixels: Uint8Array, row: number): number => {
  const ranges = [0, 1, 2].map((channel) => {
    const values = Array.from({ length: WIDTH }, (_, column) => pixels[(row * WIDTH + column) * 3 + channel]!);
    return Math.max(...values) - Math.min(...values);
  });
  return ranges.reduce((sum, range) => sum + range, 0) / 3;
};

// Work on the speed of the painter must not change a pixel. Change them
// only together with what a picture shows.
it.each([
  ["a lake in the mountains at sunset", "0814c6696bcba831"],
  ["a snowy forest at night under the aurora", "41ccdf1bd44e710a"],
  ["nebula in deep space", "45befbcc4e8470e8"],
  ["city skyline at night", "c8f20bd5db8bc021"],
  ["thunderstorm over the ocean", "d19a92df1b35aca6"],
  ["a tropical beach", "1ad24c4ce4ba238d"],
  ["desert dunes at noon", "2b1754d18748ea69"],
  ["cactus desert at dusk", "798a614a95569ed6"],
  ["mars", "c28368f18ef68b06"],
  ["the surface of the moon", "37feba77153d3460"],
  ["volcano", "6fb7bfd83d9380ea"],
  ["coral reef underwater", "d91f9b345da0f85d"],
  ["autumn forest in the mist", "76e639cf0c6b483f"],
  ["spring meadow at sunrise", "7e23399a40ecfecc"],
  ["alien planet with rings", "2d938d6990771586"],
  ["ocean under the moon and stars", "7dd862831390fab6"],
])("the painter paints the pinned pixels, without a seam and with uniform poles: %s", (prompt, hash) => {
  expect(hashOf(prompt)).toBe(hash);
  const pixels = painted(prompt, [], WIDTH);
  const inner = Array.from({ length: WIDTH - 1 }, (_, column) => columnDifference(pixels, column, column + 1));
  expect(columnDifference(pixels, WIDTH - 1, 0)).toBeLessThanOrEqual(Math.max(...inner));
  for (const row of [0, HEIGHT - 1]) expect(rowRange(pixels, row)).toBeLessThan(64);
});

it("the painter ignores blanks and capitals in the prompt", () => {
  expect(hashOf("  A lake  in the Mountains at sunset")).toBe("0814c6696bcba831");
});

it("the painter shows the same picture at every size", () => {
  const prompt = "a lake in the mountains";
  const [small, large] = [painted(prompt, [], WIDTH), painted(prompt, [], WIDTH * 2)];
  let difference = 0;
  for (let row = 0; row < HEIGHT; row++) {
    for (let column = 0; column < WIDTH; column++) {
      const at = (x: number, y: number) => large[((row * 2 + y) * WIDTH * 2 + column * 2 + x) * 3]!;
      const mean = (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1)) / 4;
      difference += Math.abs(mean - small[(row * WIDTH + column) * 3]!);
    }
  }
  expect(difference / (WIDTH * HEIGHT)).toBeLessThan(5);
});

it("the painter paints the pinned pixels with a reference image", () => {
  expect([hashOf("a lake", [REFERENCE]), hashOf(undefined, [REFERENCE])]).toEqual([
    "4a74b9767aecf9b2",
    "da969ea5c6a2156a",
  ]);
});
