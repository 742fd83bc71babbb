import sharp from "sharp";
import { expect, it } from "vitest";
import { largeEnough } from "../../../../../adapters/provider/remote/images/smaller-reference.js";
import { plain } from "../../../../support/test-images.js";

const png = async (widthPixels: number, heightPixels: number) =>
  ({ type: "image/png", bytes: await plain({ widthPixels, heightPixels }).png().toBuffer() }) as const;

it("largeEnough returns a large picture unchanged", async () => {
  const picture = await png(256, 300);
  expect((await largeEnough(picture, 256))._unsafeUnwrap()).toBe(picture);
  const tiny = await png(1, 1);
  expect((await largeEnough(tiny))._unsafeUnwrap()).toBe(tiny);
});

it.each([
  [100, 50, 512, 256],
  [255, 255, 256, 256],
  [1, 1, 256, 256],
  [30, 4000, 256, 4000],
  [2000, 100, 4000, 256],
])("largeEnough makes %i × %i pixels %i × %i", async (width, height, ...expected) => {
  const { type, bytes } = (await largeEnough(await png(width, height), 256))._unsafeUnwrap();
  const made = await sharp(bytes).metadata();
  expect([type, made.format, made.width, made.height]).toEqual(["image/jpeg", "jpeg", ...expected]);
});
