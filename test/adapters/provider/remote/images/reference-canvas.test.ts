import { err, ok } from "neverthrow";
import sharp from "sharp";
import { expect, it } from "vitest";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { referenceCanvas } from "../../../../../adapters/provider/remote/images/sphere-canvas.js";
import { referenceImageName } from "../../../../../domain/images/object-name.js";

const SIZE = { widthPixels: 128, heightPixels: 64 };
const FOREIGN = "https://pictures.example/green.png";

const photo = (background: string) =>
  sharp({ create: { width: 30, height: 20, channels: 3, background } })
    .png()
    .toBuffer();

const storage = new MemoryObjectStorage();
const hosted = async (bytes: Uint8Array, letter: string): Promise<string> => {
  const name = referenceImageName(letter.repeat(22), "image/png");
  await storage.put(name, bytes, "image/png");
  return storage.urlOf(name);
};
const green = await photo("#00ff00");
const publicFetch = {
  get: async (url: string) =>
    url === FOREIGN
      ? ok({ bytes: green, type: "image/png" })
      : err({ reason: "status 404", problem: "its host answered with status 404" }),
} as never;

it("shows all reference images in their order, uploaded or from other hosts", async () => {
  const urls = [await hosted(await photo("#ff0000"), "a"), FOREIGN];
  const { canvas } = (await referenceCanvas(urls, SIZE, { storage, publicFetch }))._unsafeUnwrap();
  const pixels = await sharp(canvas).raw().toBuffer();
  const at = (column: number) => [...pixels.subarray((32 * 128 + column) * 3, (32 * 128 + column) * 3 + 3)];
  expect([at(64), at(0), at(127)]).toEqual([
    [255, 0, 0],
    [0, 255, 0],
    [0, 255, 0],
  ]);
});

it("refuses the creation if an image is unreadable, and names the image", async () => {
  const urls = [FOREIGN, "https://pictures.example/gone.png"];
  const failed = await referenceCanvas(urls, SIZE, { storage, publicFetch });
  expect(failed._unsafeUnwrapErr()).toEqual({
    kind: "refused",
    reason: "a reference image: status 404",
    cause: "reference_unreachable",
    imageIndex: 1,
    imageProblem: "its host answered with status 404",
  });
});

it("refuses the creation if an image cannot be decoded: the customer must change it", async () => {
  const urls = [await hosted(Buffer.from("<svg/>"), "b")];
  const failed = await referenceCanvas(urls, SIZE, { storage, publicFetch });
  expect(failed._unsafeUnwrapErr()).toEqual({
    kind: "refused",
    reason: "a reference image: it is neither JPEG, PNG nor WebP",
    imageProblem: "it is neither JPEG, PNG nor WebP",
    cause: "reference_unusable",
  });
});
