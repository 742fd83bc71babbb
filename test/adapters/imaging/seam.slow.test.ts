import { readFile } from "node:fs/promises";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { photoSphereXmp } from "../../../adapters/imaging/photo-sphere-xmp.js";
import { SEAM_VISIBLE } from "../../../adapters/imaging/seam.js";
import { noise, plain, seamless, withSeam } from "../../support/test-images.js";
import { imaging, pixels, size, small, target } from "./sharp-setup.js";

/** What a picture became before seams were measured: one pipeline, without a look at the pixels. */
const withoutMeasuring = (bytes: Uint8Array): Promise<Buffer> =>
  sharp(bytes, { failOn: "error" })
    .autoOrient()
    .flatten({ background: "black" })
    .toColourspace("srgb")
    .withXmp(photoSphereXmp(target, "trainedAlgorithmicMedia"))
    .jpeg({ quality: 90 })
    .toBuffer();

describe("SharpImaging.panorama and seams", () => {
  const measured = async (bytes: Uint8Array) => (await imaging.panorama(bytes, target))._unsafeUnwrap();
  /** The largest difference between the last and the first column. */
  const stepOf = async (bytes: Uint8Array): Promise<number> => {
    const at = await pixels(bytes);
    const { width, height } = await sharp(bytes).metadata();
    let largest = 0;
    for (let y = 8; y < height - 8; y += 1) {
      const [left, right] = [at(0, y), at(width - 1, y)];
      largest = Math.max(largest, ...left.map((value, c) => Math.abs(value - (right[c] ?? 0))));
    }
    return largest;
  };

  it("measures no seam in a panorama, nor in noise, at any size and quality", async () => {
    const pictures = [
      seamless(target).png(),
      seamless(size(2048, 1024)).jpeg({ quality: 90 }),
      seamless(target).jpeg({ quality: 30 }),
      noise(target, 0).png(),
      noise(size(128, 64), 5).png(),
      plain(target).png(),
    ];
    for (const picture of pictures)
      expect((await measured(await picture.toBuffer())).seam).toBeLessThanOrEqual(SEAM_VISIBLE);
    expect((await measured(await readFile(".github/images/panorama.jpg"))).seam).toBeLessThan(1);
  });

  it.each(["png", "jpeg", "webp"] as const)(
    "encodes a good %s to the same bytes as without seam blending",
    async (format) => {
      for (const picture of [seamless(target), noise(target, 0)]) {
        // A PNG with a quality has a palette, which takes seconds to choose.
        const options = format === "png" ? {} : { quality: 95 };
        const bytes = await picture.toFormat(format, options).withMetadata({ density: 300 }).toBuffer();
        const { bytes: made } = await measured(bytes);
        expect(Buffer.from(made).equals(await withoutMeasuring(bytes))).toBe(true);
      }
    },
  );

  it.each([target, size(2048, 1024), size(512, 256), size(3000, 1500)])(
    "measures and removes a seam over the whole height, at $widthPixels × $heightPixels",
    async (given) => {
      const bytes = await withSeam(given, 40).png().toBuffer();
      const { seam, bytes: made } = await measured(bytes);
      expect(seam).toBeGreaterThan(25);
      expect(await stepOf(bytes)).toBeGreaterThanOrEqual(39);
      expect(await stepOf(made)).toBeLessThanOrEqual(6);
      expect((await measured(made)).seam).toBeLessThanOrEqual(SEAM_VISIBLE);
    },
  );

  it("measures a seam that is in a part of the height only, and changes nothing far from it", async () => {
    const bytes = await withSeam(target, 40, 0.25).png().toBuffer();
    const { seam, bytes: made } = await measured(bytes);
    expect(seam).toBeGreaterThan(25);
    const [before, after] = [await pixels(bytes), await pixels(made)];
    for (const [x, y] of [
      [512, 60],
      [100, 60],
      [900, 60],
      [3, 400],
      [1020, 400],
    ] as const) {
      for (const [c, value] of before(x, y).entries()) expect(Math.abs(value - (after(x, y)[c] ?? 0))).toBeLessThan(8);
    }
  });

  it("returns the size before the picture is resized", async () => {
    expect((await measured(await seamless(size(2047, 1030)).jpeg().toBuffer())).nativeSize).toEqual(size(2047, 1030));
    const turned = await seamless(small).rotate(270).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect((await measured(turned)).nativeSize).toEqual(small);
  });

  it.each<[string, () => Promise<Buffer>, boolean]>([
    ["a black JPEG", () => plain(target, "black").jpeg().toBuffer(), true],
    ["a grey WebP", () => plain(target, "#777777").webp().toBuffer(), true],
    ["a transparent PNG", () => plain(target).ensureAlpha(0).png().toBuffer(), true],
    ["a black picture with one bright dot", () => dotted(), false],
    ["a panorama", () => seamless(target).jpeg().toBuffer(), false],
    ["noise", () => noise(target, 0).jpeg().toBuffer(), false],
  ])("finds that %s is flat or not", async (_, picture, flat) => {
    expect((await measured(await picture())).isFlat).toBe(flat);
  });

  /** The dot is at no pixel that is looked at first. */
  const dotted = (): Promise<Buffer> =>
    plain(target, "black")
      .composite([
        { input: { create: { width: 3, height: 3, channels: 3, background: "white" } }, left: 505, top: 245 },
      ])
      .png()
      .toBuffer();
});
