import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { blendSeam, SEAM_VISIBLE, seamOf } from "../../../adapters/imaging/seam.js";
import { noise, plain, seamless, withSeam } from "../../support/test-images.js";
import { pixels, rawOf, size, target } from "./raw-pictures.js";

describe("the seam of a panorama", () => {
  it("is not visible in a panorama, nor in noise, at any size and quality", async () => {
    const poor = await seamless(target).jpeg({ quality: 30 }).toBuffer();
    for (const picture of [seamless(target), sharp(poor), noise(target, 0), noise(size(128, 64), 5), plain(target)])
      expect(seamOf(await rawOf(picture))).toBeLessThanOrEqual(SEAM_VISIBLE);
    expect(seamOf(await rawOf(sharp(".github/images/panorama.jpg")))).toBeLessThan(1);
  });

  it.each([target, size(512, 256), size(3000, 1500)])(
    "is measured and removed over the whole height, with the padding, at $widthPixels × $heightPixels",
    async (given) => {
      const raw = await rawOf(withSeam(given, 40), 7);
      /** The largest difference between the last and the first column. */
      const step = () =>
        Math.max(
          ...Array.from({ length: raw.height }, (_, y) => {
            const [[left = 0], [right = 0]] = [pixels(raw)(0, y), pixels(raw)(raw.width - 1, y)];
            return Math.abs(left - right);
          }),
        );
      expect(seamOf(raw)).toBeGreaterThan(25);
      expect(step()).toBeGreaterThanOrEqual(39);
      await blendSeam(raw);
      expect(step()).toBeLessThanOrEqual(6);
      const [at, last] = [pixels(raw), raw.height - 1];
      for (const y of [0, last]) {
        expect([at(-7, y), at(-1, y)]).toEqual([at(raw.width - 7, y), at(raw.width - 1, y)]);
        expect([at(raw.width, y), at(raw.width + 6, y)]).toEqual([at(0, y), at(6, y)]);
      }
      expect(seamOf(raw)).toBeLessThanOrEqual(SEAM_VISIBLE);
    },
  );

  it("is measured in a part of the height only, and nothing far from it changes", async () => {
    const raw = await rawOf(withSeam(target, 40, 0.25));
    expect(seamOf(raw)).toBeGreaterThan(25);
    const before = pixels({ ...raw, data: raw.data.slice() });
    await blendSeam(raw);
    for (const [x, y] of [
      [512, 60],
      [100, 60],
      [900, 60],
      [3, 400],
      [1020, 400],
    ] as const) {
      for (const [c, value] of before(x, y).entries())
        expect(Math.abs(value - (pixels(raw)(x, y)[c] ?? 0))).toBeLessThan(8);
    }
  });
});
