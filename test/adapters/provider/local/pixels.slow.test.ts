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

/** A hash of the picture at 160 pixels, and of some columns at 2048, where upright edges are painted differently. */
const pixelsOf = (prompt: string | undefined, references: readonly Reference[]): string => {
  const hash = createHash("sha256");
  const scene = sceneOf(prompt, references);
  for (const [widthPixels, from, to] of [
    [160, 0, 160],
    [2048, 1000, 1008],
  ] as const) {
    const size = { widthPixels, heightPixels: widthPixels / 2 };
    const pixels = new Uint8Array(widthPixels * size.heightPixels * 3);
    paintColumns({ scene, references, size, from, to, pixels });
    hash.update(pixels);
  }
  return hash.digest("hex").slice(0, 16);
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
])("the painter paints the pinned pixels: %s", (prompt, hash) => {
  expect(pixelsOf(prompt, [])).toBe(hash);
});

it("the painter paints the pinned pixels with a reference image", () => {
  expect([pixelsOf("a lake", [REFERENCE]), pixelsOf(undefined, [REFERENCE])]).toEqual([
    "ee42eb07cff535b7",
    "8c6e85f3623e0102",
  ]);
});
