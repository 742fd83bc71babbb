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

// The hashes are those of the painter before it was made faster: work on its speed must not change a pixel. Change them
// only together with what a picture shows.
it.each([
  ["a lake in the mountains at sunset", "f8517049088c0b7d"],
  ["a snowy forest at night under the aurora", "fc9086d3fc5dffae"],
  ["nebula in deep space", "a9828d5e976c030a"],
  ["city skyline at night", "16f17b3da6415f13"],
  ["thunderstorm over the ocean", "bcc9ff843a5f882a"],
  ["a tropical beach", "e92de10a6efbe0b8"],
  ["desert dunes at noon", "2b1754d18748ea69"],
  ["cactus desert at dusk", "1741fb0bef733e6a"],
  ["mars", "c28368f18ef68b06"],
  ["the surface of the moon", "4dc27706d54eae60"],
  ["volcano", "6fb7bfd83d9380ea"],
  ["coral reef underwater", "158080ab681cb033"],
  ["autumn forest in the mist", "414e01503b47133a"],
  ["spring meadow at sunrise", "519d913b157a5357"],
  ["alien planet with rings", "f3b2b23f641a9359"],
  ["ocean under the moon and stars", "41decae16f8fdd20"],
])("the painter paints the pinned pixels, without a seam and with uniform poles: %s", (prompt, hash) => {
  expect(hashOf(prompt)).toBe(hash);
  const pixels = painted(prompt, [], WIDTH);
  const inner = Array.from({ length: WIDTH - 1 }, (_, column) => columnDifference(pixels, column, column + 1));
  expect(columnDifference(pixels, WIDTH - 1, 0)).toBeLessThanOrEqual(Math.max(...inner));
  for (const row of [0, HEIGHT - 1]) expect(rowRange(pixels, row)).toBeLessThan(64);
});

it("the painter ignores blanks and capitals in the prompt", () => {
  expect(hashOf("  A lake  in the Mountains at sunset")).toBe("f8517049088c0b7d");
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
    "ee42eb07cff535b7",
    "8c6e85f3623e0102",
  ]);
});
