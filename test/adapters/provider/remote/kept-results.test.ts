import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SharpImaging } from "../../../../adapters/imaging/sharp-imaging.js";
import type { PixelSize } from "../../../../domain/resolution.js";
import { KEEP_ATTEMPTS_MAX } from "../../../../domain/storage-status.js";
import { useCases } from "../../../support/application.js";
import { aCreationRequest } from "../../../support/builders.js";
import { FAULTS, type Fault, refuses } from "../../../support/faulty-server.js";
import { type StartOfOne, startFal, startReplicate, startSkybox } from "../../../support/providers-under-test.js";
import { bombPng, plain } from "../../../support/test-images.js";
import { anOwner, aWorld, type World } from "../../../support/world.js";

const size = (widthPixels: number, heightPixels: number): PixelSize => ({ widthPixels, heightPixels });
const MINUTE_MILLISECONDS = 60_000;
const A_PANORAMA = plain(size(1024, 512)).jpeg().toBuffer();

describe.each<[string, StartOfOne]>([
  ["Skybox AI", startSkybox],
  ["Replicate", startReplicate],
  ["fal", startFal],
])("a result of %s for 1024 × 512 pixels", (_, start) => {
  let world: World;
  let remote: Awaited<ReturnType<StartOfOne>>;
  beforeEach(async () => {
    world = aWorld();
    remote = await start({ clock: world.clock, storage: world.storage });
  });
  afterEach(() => remote.close());

  /** The final state of the image of a finished generation, and the number of attempts. */
  const kept = async (picture: Buffer, faults: readonly Fault[] = []) => {
    remote.fake.picture = picture;
    remote.fake.faults.images.push(...faults);
    const ports = { ...world, provider: remote.provider, imaging: new SharpImaging() };
    const { createPanorama, settle, keep } = useCases(ports);
    const request = aCreationRequest({ resolution: "1k", image_urls: ["https://pictures.example/p.jpg"] });
    const { task } = (await createPanorama(await anOwner(world, 4), request))._unsafeUnwrap();
    await world.clock.advance(MINUTE_MILLISECONDS);
    await settle();
    for (let attempts = 1; ; attempts += 1) {
      expect(await keep()).toBe(1);
      const now = await world.tasks.find(task.id, task.accountId);
      if (now?.state !== "succeeded") throw new Error(`The task is ${now?.state}.`);
      if (now.image.status !== "uploading") return { image: now.image, attempts };
      await world.clock.advance(MINUTE_MILLISECONDS);
    }
  };

  it.each([
    ["larger", size(2048, 1024)],
    ["smaller", size(512, 256)],
    ["nearly 2:1", size(1536, 764)],
  ])("is scaled to exactly 1024 × 512 pixels when it is %s", async (_, given) => {
    const { image } = await kept(await plain(given).jpeg().toBuffer());
    expect(image.status).toBe("saved");
    const stored = world.storage.objects.get(image.imageName);
    expect(await sharp(stored?.bytes).metadata()).toMatchObject({ format: "jpeg", width: 1024, height: 512 });
  });

  it.each<[string, Promise<Buffer>]>([
    ["is not 2:1", plain(size(1024, 1024)).jpeg().toBuffer()],
    ["is HTML", Promise.resolve(Buffer.from("<!doctype html><title>Log in</title>"))],
    [
      "is cut off",
      plain(size(1024, 512))
        .jpeg()
        .toBuffer()
        .then((whole) => whole.subarray(0, whole.length / 2)),
    ],
    ["has too many pixels", Promise.resolve(bombPng(size(20_000, 10_000)))],
  ])("fails at the first attempt when it %s", async (_, picture) => {
    const { image, attempts } = await kept(await picture);
    expect([image.status, attempts]).toEqual(["failed", 1]);
    expect(world.storage.objects.size).toBe(0);
  });

  const tooLarge: Fault = {
    done: true,
    instead: { status: 200, body: "", headers: { "content-length": String(380 * 1024 * 1024) } },
  };

  it.each<[string, readonly Fault[]]>([
    ["redirects to a private address", [refuses(302, { location: "https://10.0.0.1/" })]],
    ["redirects in a circle", Array.from({ length: 4 }, () => refuses(302, { location: "?again" }))],
    ["announces 380 MiB", [tooLarge]],
  ])("fails at the first attempt when its URL %s", async (_, faults) => {
    const { image, attempts } = await kept(await A_PANORAMA, faults);
    expect([image.status, attempts]).toEqual(["failed", 1]);
  });

  it("fails after the last attempt when every download fails with status 500", async () => {
    const faults = Array.from({ length: KEEP_ATTEMPTS_MAX }, () => FAULTS.failsBefore);
    const { image, attempts } = await kept(await A_PANORAMA, faults);
    expect([image.status, attempts]).toEqual(["failed", KEEP_ATTEMPTS_MAX]);
  });

  it("is saved when the download succeeds after three failures", async () => {
    const { image, attempts } = await kept(await A_PANORAMA, [FAULTS.failsBefore, FAULTS.cutBefore, refuses(429)]);
    expect([image.status, attempts]).toEqual(["saved", 4]);
  });

  it("expires when its URL and a fresh one are both gone", async () => {
    const { image, attempts } = await kept(await A_PANORAMA, [refuses(403), refuses(403)]);
    expect([image.status, attempts]).toEqual(["expired", 1]);
  });
});
