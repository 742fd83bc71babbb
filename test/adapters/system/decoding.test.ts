import sharp from "sharp";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { sharpImaging } from "../../../adapters/imaging/sharp-imaging.js";
import { MemoryObjectStorage } from "../../../adapters/memory/memory-object-storage.js";
import { ReferenceImages } from "../../../adapters/provider/local/reference-images.js";
import { PublicFetch } from "../../../adapters/provider/public-fetch.js";
import { panoramaCanvas } from "../../../adapters/provider/remote/images/panorama-canvas.js";
import { sphereCanvas } from "../../../adapters/provider/remote/images/sphere-canvas.js";
import { DECODINGS_MAX, decoding, loadSharp } from "../../../adapters/system/load-sharp.js";
import { referenceImageName } from "../../../domain/images/object-name.js";
import { RESOLUTIONS } from "../../../domain/images/resolution.js";
import { bombPng, plain } from "../../support/test-images.js";

const IMAGE = await plain({ widthPixels: 64, heightPixels: 32 }).png().toBuffer();
const TOO_LARGE = bombPng({ widthPixels: 12_001, heightPixels: 10_000 });
const publicFetch = new PublicFetch();

const reference = async (bytes: Uint8Array) => {
  const storage = new MemoryObjectStorage();
  const name = referenceImageName("ab".repeat(11), "image/png");
  await storage.put(name, bytes, "image/png");
  return new ReferenceImages(storage, publicFetch).load(storage.urlOf(name), 32, new AbortController().signal);
};
const imaging = sharpImaging();

const decoders = {
  "a finished image": (bytes: Uint8Array) => imaging.panorama(bytes, RESOLUTIONS["1k"]),
  "a thumbnail": (bytes: Uint8Array) => imaging.thumbnail(bytes),
  "a reference image of the local provider": reference,
  "a reference image for a remote provider": (bytes: Uint8Array) => panoramaCanvas(bytes),
  "a reference image for a canvas": (bytes: Uint8Array) => sphereCanvas([bytes], RESOLUTIONS["1k"]),
};

describe.each(Object.entries(decoders))("decoding %s", (_, decode) => {
  const releases: (() => void)[] = [];
  // The test itself uses the library, which for a moment knows no format while the service sets it up.
  beforeAll(async () => void (await loadSharp()));
  afterEach(() => {
    for (const release of releases.splice(0)) release();
  });

  it("waits while the process decodes the maximum number of images", async () => {
    for (let n = 0; n < DECODINGS_MAX; n += 1)
      void decoding(() => new Promise<void>((release) => releases.push(release)));
    let done = false;
    const decoded = decode(IMAGE).then((result) => {
      done = true;
      return result;
    });
    // Without the limit, `decode` would be done before these two larger encodings, which start later.
    for (const _ of [1, 2]) await sharp(IMAGE).resize(2048, 1024, { fit: "fill" }).png().toBuffer();
    expect(done).toBe(false);
    releases.pop()?.();
    expect((await decoded).isOk()).toBe(true);
  });

  it("refuses an image with too many pixels", async () => {
    expect((await decode(TOO_LARGE)).isErr()).toBe(true);
  });
});
