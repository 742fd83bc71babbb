import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { paintMask, panoramaCanvas } from "../../../../../adapters/provider/remote/images/panorama-canvas.js";
import { plain } from "../../../../support/test-images.js";

const picture = (widthPixels: number, heightPixels: number, colour = "#d01030") =>
  plain({ widthPixels, heightPixels }, colour).png().toBuffer();

const pixelAt = async (jpeg: Buffer, left: number, top: number): Promise<number[]> => [
  ...(await sharp(jpeg).extract({ left, top, width: 1, height: 1 }).raw().toBuffer()),
];

describe("panoramaCanvas", () => {
  it("places a photo in the middle of a canvas of its average colour", async () => {
    const photo = await sharp(await picture(300, 200))
      .composite([{ input: await picture(40, 200, "white"), gravity: "west" }])
      .png()
      .toBuffer();
    const { jpeg: canvas } = (await panoramaCanvas(photo))._unsafeUnwrap();
    expect(await sharp(canvas).metadata()).toMatchObject({ format: "jpeg", width: 1440, height: 720 });
    const [r = 0, g = 0] = await pixelAt(canvas, 760, 360);
    expect(r - g).toBeGreaterThan(150);
    const [average = 0] = (await pixelAt(canvas, 5, 360)).slice(1, 2);
    expect(average).toBeGreaterThan(20);
    expect(average).toBeLessThan(100);
  });

  it("fills the canvas with a 2:1 image", async () => {
    const { jpeg: canvas, photo } = (await panoramaCanvas(await picture(800, 400)))._unsafeUnwrap();
    expect(photo).toBeUndefined();
    expect((await pixelAt(canvas, 0, 0))[0]).toBeGreaterThan(190);
  });

  it.each([
    ["a landscape photo", 300, 200, { left: 480, top: 200, width: 480, height: 320 }],
    ["a portrait photo", 200, 300, { left: 600, top: 180, width: 240, height: 360 }],
  ])("reports where %s is, and paintMask keeps that area except its edge", async (_, width, height, area) => {
    const { photo } = (await panoramaCanvas(await picture(width, height)))._unsafeUnwrap();
    expect(photo).toEqual(area);
    const mask = await paintMask(area);
    expect(await sharp(mask).metadata()).toMatchObject({ format: "png", width: 1440, height: 720 });
    const { left, top } = area;
    const lightness = async (x: number, y: number) => (await pixelAt(mask, x, y))[0];
    expect(await lightness(720, 360)).toBe(0);
    expect([await lightness(left + 15, 360), await lightness(left + 16, 360)]).toEqual([255, 0]);
    expect([await lightness(720, top + 15), await lightness(720, top + 16)]).toEqual([255, 0]);
    expect([await lightness(0, 0), await lightness(1439, 719)]).toEqual([255, 255]);
  });

  it("keeps a part of a photo that is only a line on the canvas", async () => {
    const { photo } = (await panoramaCanvas(await picture(3000, 6)))._unsafeUnwrap();
    expect(photo).toEqual({ left: 480, top: 359, width: 480, height: 1 });
    expect(await pixelAt(await paintMask(photo!), 720, 359)).toEqual([0, 0, 0]);
  });

  it("stays below 256 KB as base64, even for noise", async () => {
    const noise = sharp({
      create: {
        width: 1440,
        height: 720,
        channels: 3,
        noise: { type: "gaussian", mean: 128, sigma: 90 },
        background: "black",
      },
    });
    const { jpeg: canvas } = (await panoramaCanvas(await noise.png().toBuffer()))._unsafeUnwrap();
    expect(canvas.toString("base64").length).toBeLessThan(256_000);
  });

  it.each([
    ["is not an image", Buffer.from("<svg/>")],
    ["is cut off", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])],
  ])("returns an error when the reference image %s", async (_, bytes) => {
    expect((await panoramaCanvas(bytes))._unsafeUnwrapErr()).toContain("reference image");
  });
});
