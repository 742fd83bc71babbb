import { afterAll, describe, expect, it } from "vitest";
import { PaintPool } from "../../../../adapters/provider/local/paint-pool.js";
import { paintColumns } from "../../../../adapters/provider/local/painter/paint.js";
import type { Reference } from "../../../../adapters/provider/local/painter/references.js";
import { sceneOf } from "../../../../adapters/provider/local/painter/scene-of.js";
import { featuresOf } from "../../../../adapters/provider/local/painter/words.js";

const pool = new PaintPool(2);
afterAll(() => pool.close());

const WIDTH = 256;
const HEIGHT = 128;

const painted = async (
  prompt: string | undefined,
  width = WIDTH,
  references: Reference[] = [],
): Promise<Uint8Array> => {
  const size = { widthPixels: width, heightPixels: width / 2 };
  const order = { size, owner: "a", extraBytes: 0, signal: new AbortController().signal };
  const done = await pool.run(order, async (paint) => {
    const pixels = await paint(sceneOf(prompt, references), references);
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

const meanOf = (pixels: Uint8Array, channel: number, fromRow: number, toRow: number): number => {
  let sum = 0;
  for (let at = fromRow * WIDTH; at < toRow * WIDTH; at++) sum += pixels[at * 3 + channel]!;
  return sum / ((toRow - fromRow) * WIDTH);
};

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

  it("is the same for the same prompt, ignoring blanks and capitals", async () => {
    const first = await painted("a lake in the mountains");
    expect(await painted("a lake in the mountains")).toEqual(first);
    expect(await painted("  A lake  in the Mountains")).toEqual(first);
  });

  it("differs for a different prompt with the same features", async () => {
    expect(await painted("a lake in the mountains")).not.toEqual(await painted("a lake in the high mountains"));
  });

  it("is the same picture at every size", async () => {
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

describe("a panorama painted from a prompt", () => {
  it("is darker at night than by day", async () => {
    expect(brightness(await painted("mountains at night"))).toBeLessThan(
      brightness(await painted("mountains at noon")) * 0.5,
    );
  });

  it("has a blue sky at noon, but not on Mars", async () => {
    const earth = await painted("clear sky over a meadow at noon");
    const mars = await painted("the plains of mars");
    expect(meanOf(earth, 2, 0, 50)).toBeGreaterThan(meanOf(earth, 0, 0, 50) * 1.3);
    expect(meanOf(mars, 0, 0, 50)).toBeGreaterThan(meanOf(mars, 2, 0, 50) * 1.3);
  });

  it("has green ground for a meadow, white for snow, yellow for sand", async () => {
    const below = async (prompt: string) => {
      const pixels = await painted(prompt);
      return [0, 1, 2].map((channel) => meanOf(pixels, channel, 85, 128)) as [number, number, number];
    };
    const [meadowRed, meadowGreen, meadowBlue] = await below("a green meadow at noon");
    expect(meadowGreen).toBeGreaterThan(Math.max(meadowRed, meadowBlue));
    expect(Math.min(...(await below("a snow field in winter at noon")))).toBeGreaterThan(150);
    const [sandRed, sandGreen, sandBlue] = await below("sand dunes at noon");
    expect(sandRed).toBeGreaterThan(sandGreen);
    expect(sandGreen).toBeGreaterThan(sandBlue * 1.2);
  });

  it("has two moons if the prompt says so, rows of violet in lavender, corals of many colours in a reef", async () => {
    const twoMoons = { ...sceneOf("dunes under two moons", []), clouds: 0, cirrus: 0 };
    expect(twoMoons.planets).toBe("moons");
    const size = { widthPixels: WIDTH, heightPixels: HEIGHT };
    const sky = (planets: "none" | "moons") => {
      const pixels = new Uint8Array(WIDTH * HEIGHT * 3);
      paintColumns({ scene: { ...twoMoons, planets }, references: [], size, from: 0, to: WIDTH, pixels });
      return meanOf(pixels, 0, 20, 60);
    };
    expect(sky("moons") - sky("none")).toBeGreaterThan(0.2);

    const lavender = await painted("lavender at noon");
    expect(meanOf(lavender, 2, 70, 110)).toBeGreaterThan(meanOf(lavender, 1, 70, 110) * 1.4);

    const reef = await painted("coral reef in clear water");
    const kelp = await painted("kelp underwater");
    expect(rowDeviation(reef, 70)).toBeGreaterThan(1.5 * rowDeviation(kelp, 70));
  });

  it("shows the far shore in mist, and more than one white of a snowy forest", async () => {
    const shore = await painted("a quiet lake at dawn, mist over the water");
    const rows = Array.from({ length: 20 }, (_, row) => rowDeviation(shore, 52 + row));
    const steps = rows.slice(1).map((deviation, row) => Math.abs(deviation - rows[row]!));
    expect(Math.max(...steps)).toBeGreaterThan(3); // where the land ends
    const forest = await painted("forest in snow");
    expect(forest.filter((value) => value > 240).length / forest.length).toBeLessThan(0.01);
  });

  it("uses only whole words: a knight is not night, a starfish has no stars", () => {
    expect(sceneOf("a knight and a starfish at noon", []).stars).toBe(0);
    expect(sceneOf("stars at night", []).stars).toBeGreaterThan(0);
  });

  it.each([
    ["snow-covered peaks", ["snow", "mountains"]],
    ["a moon-lit pond, tree-lined", ["moon", "lake", "forest"]],
    ["snow-free peaks", ["mountains"]],
    ["a sand-coloured wall by the sea-green door", []],
    ["an off-beach sci-fi tale", ["alien"]],
  ])("reads words with hyphens: %s", (prompt, features) => {
    expect([...featuresOf(prompt)].sort()).toEqual(features.sort());
  });
});

describe("reference images in a painted panorama", () => {
  const aReference = (red: number, green: number, blue: number): Reference => {
    const pixels = new Uint8Array(64 * 48 * 3);
    for (let at = 0; at < pixels.length; at += 3) pixels.set([red, green, blue], at);
    return { widthPixels: 64, heightPixels: 48, pixels };
  };
  const pixelAt = (pixels: Uint8Array, column: number) => [
    ...pixels.subarray(((HEIGHT / 2) * WIDTH + column) * 3).subarray(0, 3),
  ];

  it("are ahead, or evenly around if there are several", async () => {
    const references = [aReference(200, 10, 10), aReference(10, 200, 10), aReference(10, 10, 200)];
    const pixels = await painted("a lake", WIDTH, references);
    const [ahead, second, third] = [0, 1, 2].map((index) =>
      pixelAt(pixels, ((WIDTH / 2 + (index * WIDTH) / 3) % WIDTH) | 0),
    );
    for (const [pixel, channel] of [
      [ahead, 0],
      [second, 1],
      [third, 2],
    ] as const) {
      expect(pixel![channel]).toBeGreaterThan(185);
      expect(Math.max(...pixel!.filter((_, index) => index !== channel))).toBeLessThan(25);
    }
  });

  it("fade into the landscape without an edge", async () => {
    const pixels = await painted("clear sky over the ocean at noon", WIDTH, [aReference(250, 40, 40)]);
    for (let column = 1; column < WIDTH; column++) {
      const row = 55;
      const at = (x: number) => pixels[(row * WIDTH + x) * 3 + 2]!;
      expect(Math.abs(at(column) - at(column - 1))).toBeLessThan(45);
    }
  });

  it("give the landscape its colours where there is no prompt", async () => {
    const red = await painted(undefined, WIDTH, [aReference(200, 60, 40)]);
    const blue = await painted(undefined, WIDTH, [aReference(40, 90, 200)]);
    // Behind the viewer, where no reference hangs.
    const behind = (pixels: Uint8Array) => pixels.subarray(30 * WIDTH * 3, 30 * WIDTH * 3 + 30);
    const warmth = (pixels: Uint8Array) => behind(pixels)[0]! - behind(pixels)[2]!;
    expect(warmth(red)).toBeGreaterThan(warmth(blue) + 40);
  });
});
