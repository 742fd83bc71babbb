import fc from "fast-check";
import { err, ok } from "neverthrow";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { referenceCanvas, sphereCanvas } from "../../../../../adapters/provider/remote/images/sphere-canvas.js";
import type { GivenAs } from "../../../../../adapters/provider/remote/leading-prompt.js";
import { RESOLUTIONS } from "../../../../../domain/images/resolution.js";
import { hostedPicture } from "../../../../support/hosted-pictures.js";
import { plain } from "../../../../support/test-images.js";

const SIZE = { widthPixels: 360, heightPixels: 180 };
const [RED, GREEN, BLUE] = ["#d01030", "#10c040", "#2040e0"] as const;
const BYTES = { [RED]: [208, 16, 48], [GREEN]: [16, 192, 64], [BLUE]: [32, 64, 224] } as const;
const KEPT = [0, 0, 0, 255];
const PAINTED = [255, 255, 255, 0];

const photo = (colour: string, widthPixels = 300, heightPixels = 200) =>
  plain({ widthPixels, heightPixels }, colour).png().toBuffer();

const canvasOf = async (expected: GivenAs, ...photos: Uint8Array[]) => {
  const { canvas, mask, givenAs } = (await sphereCanvas(photos, SIZE))._unsafeUnwrap();
  expect(givenAs).toBe(expected);
  return { canvas: await pixelsOf(canvas), mask: await pixelsOf(mask) };
};

/** Reads a pixel by its degrees to the right of straight ahead and above the horizon. */
const pixelsOf = async (png: Buffer) => {
  const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([SIZE.widthPixels, SIZE.heightPixels]);
  return (azimuth: number, elevation: number): number[] => {
    const at = ((89 - elevation) * info.width + ((azimuth + 180 + 360) % 360)) * info.channels;
    return [...data.subarray(at, at + info.channels)];
  };
};

describe("sphereCanvas", () => {
  it.each([
    ["one photo", [[0, RED]], [120, 180, -120]],
    // 180: across the seam.
    [
      "two photos",
      [
        [0, RED],
        [180, GREEN],
      ],
      [90, -90],
    ],
    [
      "three photos",
      [
        [0, RED],
        [120, GREEN],
        [-120, BLUE],
      ],
      [60, 180, -60],
    ],
  ] as const)("shows and keeps %s evenly around, and lets the rest be painted", async (_, photos, free) => {
    const { canvas, mask } = await canvasOf(
      "canvas",
      ...(await Promise.all(photos.map(([, colour]) => photo(colour)))),
    );
    for (const [azimuth, colour] of photos) {
      for (const aside of [-40, 0, 40]) {
        expect(canvas(azimuth + aside, 0)).toEqual(BYTES[colour]);
        expect(mask(azimuth + aside, 0)).toEqual(KEPT);
      }
      for (const elevation of [-30, 30]) expect(mask(azimuth, elevation)).toEqual(KEPT);
      for (const elevation of [-60, 60]) expect(mask(azimuth, elevation)).toEqual(PAINTED);
    }
    for (const azimuth of free) expect(mask(azimuth, 0)).toEqual(PAINTED);
    for (const azimuth of [0, 90, 179]) {
      expect([mask(azimuth, 89), mask(azimuth, -90)]).toEqual([PAINTED, PAINTED]);
    }
  });

  it("shows a photo upright and not mirrored, on both sides of the seam", async () => {
    const quarters = await sharp(await photo(RED, 400, 400))
      .composite([
        { input: await photo(GREEN, 200, 200), left: 200, top: 0 },
        { input: await photo(BLUE, 200, 200), left: 0, top: 200 },
      ])
      .png()
      .toBuffer();
    const { canvas } = await canvasOf("canvas", await photo("#808080"), quarters);
    expect([canvas(160, 15), canvas(-160, 15), canvas(160, -15)]).toEqual([BYTES[RED], BYTES[GREEN], BYTES[BLUE]]);
  });

  it("rotates a photo by its EXIF orientation, and fills transparent parts with grey", async () => {
    const turned = await sharp({
      create: { width: 400, height: 200, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
    })
      .withMetadata({ orientation: 6 })
      .png()
      .toBuffer();
    const { canvas, mask } = await canvasOf("canvas", turned);
    expect(canvas(0, 0)).toEqual([128, 128, 128]);
    // As a portrait it is half as wide as high.
    expect([mask(0, 35), mask(20, 0), mask(30, 0)]).toEqual([KEPT, KEPT, PAINTED]);
  });

  it("fills the rest with the average colours of the photos, from top to bottom", async () => {
    const sky = await sharp(await photo("#106020", 300, 300))
      .composite([{ input: await photo("#80c0ff", 300, 100), left: 0, top: 0 }])
      .png()
      .toBuffer();
    const { canvas } = await canvasOf("canvas", sky);
    const [above, below] = [canvas(120, 89), canvas(120, -90)];
    expect(above[2]! - below[2]!).toBeGreaterThan(150);
    expect(canvas(-60, 89)).toEqual(above);
  });

  it("has no step at the seam", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ width: fc.integer({ min: 20, max: 200 }), height: fc.integer({ min: 20, max: 200 }) }), {
          minLength: 2,
          maxLength: 3,
        }),
        async (sizes) => {
          const photos = sizes.map(({ width, height }) => gradient(width, height));
          const { canvas, mask } = await canvasOf("canvas", ...(await Promise.all(photos)));
          for (let elevation = -90; elevation < 90; elevation += 1) {
            const [left, right] = [canvas(-180, elevation), canvas(179, elevation)];
            const steps = left.map((value, channel) => Math.abs(value - right[channel]!));
            expect(Math.max(...steps)).toBeLessThanOrEqual(10);
            expect(mask(-180, elevation)).toEqual(mask(179, elevation));
          }
        },
      ),
      { numRuns: 12 },
    );
  });

  it("keeps the centre of random photos, and leaves a part of the sphere to be painted", async () => {
    const side = fc.integer({ min: 2, max: 300 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(side, side), { minLength: 2, maxLength: 3 }), async (sides) => {
        const photos = await Promise.all(sides.map(([width, height]) => photo(RED, width, height)));
        const { canvas, mask } = await canvasOf("canvas", ...photos);
        for (const index of photos.keys()) {
          const azimuth = Math.round((index * 360) / photos.length);
          expect(canvas(azimuth, 0)).toEqual(BYTES[RED]);
          expect(mask(azimuth + 60, 0)).toEqual(PAINTED);
        }
      }),
      { numRuns: 20 },
    );
  });

  it("takes a single 2:1 image for a panorama, which may be changed everywhere", async () => {
    const { canvas, mask } = await canvasOf("panorama", await photo(RED, 800, 400));
    expect([canvas(0, 0), canvas(180, 0), canvas(90, 89)]).toEqual([BYTES[RED], BYTES[RED], BYTES[RED]]);
    expect([mask(0, 0), mask(180, 0), mask(90, 89)]).toEqual([PAINTED, PAINTED, PAINTED]);
  });

  it("makes a mask below OpenAI's 4 MB at 4k", async () => {
    const photos = [await photo(RED), await photo(GREEN, 200, 300), await photo(BLUE)];
    const { mask } = (await sphereCanvas(photos, RESOLUTIONS["4k"]))._unsafeUnwrap();
    expect(await sharp(mask).metadata()).toMatchObject({ format: "png", width: 3840, height: 1920, hasAlpha: true });
    expect(mask.length).toBeLessThan(500_000);
  });
});

describe("referenceCanvas", () => {
  const FOREIGN = "https://pictures.example/green.png";
  const storage = new MemoryObjectStorage();
  const publicFetch = {
    get: async (url: string) =>
      url === FOREIGN
        ? ok({ bytes: await photo(GREEN), type: "image/png" })
        : err({ reason: "status 404", problem: "its host answered with status 404" }),
  } as never;
  const drawn = (...urls: string[]) => referenceCanvas(urls, SIZE, { storage, publicFetch });

  it("shows all reference images in their order, uploaded or from other hosts", async () => {
    const { canvas } = (await drawn(await hostedPicture(storage, await photo(RED)), FOREIGN))._unsafeUnwrap();
    const at = await pixelsOf(canvas);
    expect([at(0, 0), at(-180, 0), at(179, 0)]).toEqual([BYTES[RED], BYTES[GREEN], BYTES[GREEN]]);
  });

  it("refuses the creation if an image is unreadable, and names the image", async () => {
    expect((await drawn(FOREIGN, "https://pictures.example/gone.png"))._unsafeUnwrapErr()).toEqual({
      kind: "refused",
      reason: "a reference image: status 404",
      cause: "reference_unreachable",
      imageIndex: 1,
      imageProblem: "its host answered with status 404",
    });
  });

  it("refuses the creation if an image cannot be decoded: the customer must change it", async () => {
    const failed = await drawn(await hostedPicture(storage, Buffer.from("<svg/>"), 2));
    expect(failed._unsafeUnwrapErr()).toEqual({
      kind: "refused",
      reason: "a reference image: it is an SVG picture, neither JPEG, PNG nor WebP",
      imageProblem: "it is an SVG picture, neither JPEG, PNG nor WebP",
      cause: "reference_unusable",
    });
  });
});

/** Light changes slowly in it, so that a step is a fault. */
const gradient = (width: number, height: number) => {
  const pixels = new Uint8Array(width * height * 3);
  for (let at = 0; at < pixels.length; at += 1) {
    const pixel = Math.floor(at / 3);
    pixels[at] = 40 + (80 * (pixel % width)) / width + (80 * Math.floor(pixel / width)) / height;
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
};
