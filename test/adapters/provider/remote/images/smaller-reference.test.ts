import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { expect, it } from "vitest";
import { largeEnough, smallerReference } from "../../../../../adapters/provider/remote/images/smaller-reference.js";
import { plain } from "../../../../support/test-images.js";

it("smallerReference returns an image of at most 10 MiB and 4000 pixels unchanged", async () => {
  const bytes = await plain({ widthPixels: 30, heightPixels: 20 }).png().toBuffer();
  expect((await smallerReference(bytes))._unsafeUnwrap()).toEqual({ type: "image/png", bytes });
});

it("smallerReference makes a larger image a JPEG of the same shape", async () => {
  const [width, height] = [2400, 1600];
  const noise = sharp(randomBytes(width * height * 3), { raw: { width, height, channels: 3 } });
  const bytes = await noise.png({ compressionLevel: 0 }).toBuffer();
  expect(bytes.length).toBeGreaterThan(10 * 1024 * 1024);
  const { type, bytes: smaller } = (await smallerReference(bytes))._unsafeUnwrap();
  expect([type, smaller.length < 10 * 1024 * 1024]).toEqual(["image/jpeg", true]);
  expect(await sharp(smaller).metadata()).toMatchObject({ format: "jpeg", width, height });
});

it("smallerReference makes a photo of a phone with 108 megapixels a JPEG of 4000 pixels at an edge", async () => {
  const bytes = await plain({ widthPixels: 12_000, heightPixels: 9_000 }).jpeg().toBuffer();
  const { bytes: smaller } = (await smallerReference(bytes))._unsafeUnwrap();
  expect(await sharp(smaller).metadata()).toMatchObject({ format: "jpeg", width: 4000, height: 3000 });
});

it("smallerReference refuses a file that is not an image", async () => {
  const reason = "a reference image: it is neither JPEG, PNG nor WebP";
  expect((await smallerReference(Buffer.from("no image")))._unsafeUnwrapErr()).toBe(reason);
  const broken = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), randomBytes(11 << 20)]);
  expect((await smallerReference(broken))._unsafeUnwrapErr()).toBe(
    "a reference image: it cannot be decoded: the file is damaged, incomplete, or of a format that is not supported",
  );
});

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
