import { afterAll, describe, expect, it } from "vitest";
import { PaintPool } from "../../../../adapters/provider/local/paint-pool.js";
import { sceneOf } from "../../../../adapters/provider/local/painter/scene-of.js";

const pool = new PaintPool(2);
afterAll(() => pool.close());

const WIDTH = 256;
const HEIGHT = 128;

const painted = async (prompt: string, width = WIDTH): Promise<Uint8Array> => {
  const size = { widthPixels: width, heightPixels: width / 2 };
  const order = { size, owner: "a", extraBytes: 0, signal: new AbortController().signal };
  const done = await pool.run(order, async (paint) => {
    const pixels = await paint(sceneOf(prompt, []), []);
    return pixels.map((shared) => shared.slice());
  });
  return done.andThen((pixels) => pixels)._unsafeUnwrap();
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

/** The standard deviation within a row, the mean of its channels. */
const rowDeviation = (pixels: Uint8Array, row: number): number => {
  let deviations = 0;
  for (let channel = 0; channel < 3; channel++) {
    const values = Array.from({ length: WIDTH }, (_, column) => pixels[(row * WIDTH + column) * 3 + channel]!);
    const mean = values.reduce((sum, value) => sum + value, 0) / WIDTH;
    deviations += Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / WIDTH);
  }
  return deviations / 3;
};

const brightness = (pixels: Uint8Array): number => pixels.reduce((sum, value) => sum + value, 0) / pixels.length;

describe("a painted panorama", () => {
  it.each([
    "a lake in the mountains at sunset",
    "a snowy forest at night under the aurora",
    "city skyline at dusk",
    "desert dunes at noon",
    "nebula in deep space",
    "thunderstorm over the ocean",
    "a tropical beach",
    "coral reef underwater",
    "mars",
    "volcano",
    "autumn forest in the mist",
    "spring meadow at sunrise",
  ])("has no seam and uniform poles: %s", async (prompt) => {
    const pixels = await painted(prompt);
    const inner = Array.from({ length: WIDTH - 1 }, (_, column) => columnDifference(pixels, column, column + 1));
    expect(columnDifference(pixels, WIDTH - 1, 0)).toBeLessThanOrEqual(Math.max(...inner));
    expect(rowDeviation(pixels, 0)).toBeLessThan(12);
    expect(rowDeviation(pixels, HEIGHT - 1)).toBeLessThan(12);
    expect(brightness(pixels)).toBeGreaterThan(4);
    expect(brightness(pixels)).toBeLessThan(250);
  });

  it("depends on the prompt, ignoring blanks and capitals", async () => {
    const first = await painted("a lake in the mountains");
    expect(await painted("  A lake  in the Mountains")).toEqual(first);
    expect(await painted("a lake in the high mountains")).not.toEqual(first);
  });

  it("shows the same picture at every size", async () => {
    const small = await painted("a lake in the mountains");
    const large = await painted("a lake in the mountains", WIDTH * 2);
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
});
