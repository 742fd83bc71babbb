import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../../adapters/contracts/support/builders.js";
import { sharpImaging } from "../../../../adapters/imaging/sharp-imaging.js";
import type { PixelSize } from "../../../../domain/images/resolution.js";
import type { SucceededTask } from "../../../../domain/tasks/task.js";
import { GENERATION_DEADLINE_MILLISECONDS, useCases } from "../../../support/application.js";
import { FAULTS, type Fault, refuses } from "../../../support/faulty-server.js";
import {
  type StartOfOne,
  startFal,
  startReplicate,
  startSkybox,
  startWorldlabs,
} from "../../../support/providers-under-test.js";
import { bombPng, plain, seamless } from "../../../support/test-images.js";
import { anOwner, aWorld, type World } from "../../../support/world.js";

const size = (widthPixels: number, heightPixels: number): PixelSize => ({ widthPixels, heightPixels });
const MINUTE_MILLISECONDS = 60_000;
const A_PANORAMA = seamless(size(1024, 512)).jpeg().toBuffer();

describe.each<[string, StartOfOne]>([
  ["Skybox AI", startSkybox],
  ["Replicate", startReplicate],
  ["fal", startFal],
  ["World Labs Marble", startWorldlabs],
])("a result of %s for 1024 × 512 pixels", (_, start) => {
  let world: World;
  let remote: Awaited<ReturnType<StartOfOne>>;
  beforeEach(async () => {
    world = aWorld();
    remote = await start({ clock: world.clock, storage: world.storage });
  });
  afterEach(() => remote.close());

  /** The task at its end, the number of attempts to download its result, and the credits that its account has left. */
  const ended = async (picture: Buffer, faults: readonly Fault[] = []) => {
    remote.fake.picture = picture;
    remote.fake.faults.images.push(...faults);
    const ports = { ...world, provider: remote.provider, imaging: sharpImaging() };
    const { createPanorama, poll, check } = useCases(ports);
    const request = aCreationRequest({ resolution: "1k", image_urls: ["https://pictures.example/p.jpg"] });
    const owner = await anOwner(world, 4);
    const { id } = (await createPanorama(owner, request))._unsafeUnwrap().task;
    await world.clock.advance(MINUTE_MILLISECONDS);
    await poll();
    for (let attempts = 1; ; attempts += 1) {
      expect(await check()).toBe(1);
      const task = await world.tasks.find(id, owner);
      if (task === undefined) throw new Error("The task is gone.");
      if (task.state !== "generated") return { task, attempts, credits: await world.ledger.balance(owner) };
      await world.clock.advance(5_000);
    }
  };
  const refunded = { task: { state: "failed", reason: "unusable_result" }, attempts: 1, credits: 4 };

  it.each([
    ["larger", size(2048, 1024)],
    ["smaller", size(512, 256)],
    ["nearly 2:1", size(1536, 764)],
  ])("is scaled to exactly 1024 × 512 pixels when it is %s", async (_, given) => {
    const { task } = await ended(await seamless(given).jpeg().toBuffer());
    expect(task).toMatchObject({ state: "succeeded", image: { status: "saved" }, nativeSize: given });
    const stored = world.storage.objects.get((task as SucceededTask).image.imageName);
    expect(await sharp(stored?.bytes).metadata()).toMatchObject({ format: "jpeg", width: 1024, height: 512 });
  });

  it.each<[string, Promise<Buffer>]>([
    ["is not 2:1", seamless(size(1024, 1024)).jpeg().toBuffer()],
    ["is black", plain(size(1024, 512), "black").jpeg().toBuffer()],
    ["is HTML", Promise.resolve(Buffer.from("<!doctype html><title>Log in</title>"))],
    ["is JSON", Promise.resolve(Buffer.from('{"detail": "the file is not found"}'))],
    ["is cut off", A_PANORAMA.then((whole) => whole.subarray(0, whole.length / 2))],
    ["has too many pixels", Promise.resolve(bombPng(size(20_000, 10_000)))],
  ])("is refunded at the first attempt when it %s", async (_, picture) => {
    expect(await ended(await picture)).toMatchObject(refunded);
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
  ])("is refunded at the first attempt when its URL %s", async (_, faults) => {
    expect(await ended(await A_PANORAMA, faults)).toMatchObject(refunded);
  });

  it("is refunded at the deadline when every download fails with status 500", async () => {
    const faults = Array.from({ length: 200 }, () => FAULTS.failsBefore);
    const { task, attempts, credits } = await ended(await A_PANORAMA, faults);
    expect(task).toMatchObject({ state: "failed", reason: "deadline_passed" });
    expect([attempts, credits]).toEqual([1 + (GENERATION_DEADLINE_MILLISECONDS - MINUTE_MILLISECONDS) / 5_000, 4]);
  });

  it("is saved when the download succeeds after three failures", async () => {
    const { task, attempts } = await ended(await A_PANORAMA, [FAULTS.failsBefore, FAULTS.cutBefore, refuses(429)]);
    // 429 is repeated within the third attempt.
    expect([task, attempts]).toMatchObject([{ image: { status: "saved" } }, 3]);
  });

  it("is refunded when its URL and a fresh one are both gone", async () => {
    expect(await ended(await A_PANORAMA, [refuses(403), refuses(403)])).toMatchObject(refunded);
  });
});
