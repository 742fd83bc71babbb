import { err } from "neverthrow";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { NATIVE_SIZE } from "../../../adapters/memory/memory-imaging.js";
import type { Script } from "../../../adapters/memory/scripted-provider.js";
import type { Imaging } from "../../../application/ports/imaging.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { ResultFigures } from "../../../domain/images/picture.js";
import { type SucceededTask, statusOf } from "../../../domain/tasks/task.js";
import {
  GENERATION_DEADLINE_MILLISECONDS,
  LEASE_MILLISECONDS,
  RESULT_BOUNDS,
  useCases,
} from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
let id: TaskId;

/** A generation that the provider has finished. Its result was not looked at. */
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
  id = (await world.createPanorama(owner, aCreationRequest({ resolution: "2k" })))._unsafeUnwrap().task.id;
  await world.clock.advance(world.provider.nextPollMilliseconds());
  expect(await world.poll()).toBe(1);
});

const task = async () => (await world.readTask(id, owner))._unsafeUnwrap();
const imageStatus = async () => ((await task()) as SucceededTask).image.status;
const balance = () => world.ledger.balance(owner);
const A_SECOND = 1_000;
const TEN_MINUTES = 600_000;
const CHECK_PAUSE = 5_000;

/** Fails with this reason, is refunded once, and never touches the storage. */
const expectRefund = async (reason: "unusable_result" | "deadline_passed") => {
  expect(await task()).toMatchObject({ state: "failed", reason, reservation: { state: "refunded", credits: 6 } });
  expect(await balance()).toBe(100);
  expect(world.storage.objects.size).toBe(0);
  expect(world.reporter.of("task_failed")).toHaveLength(1);
  expect(world.reporter.of("task_succeeded")).toEqual([]);

  await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS);
  expect([await world.poll(), await world.check(), await world.store()]).toEqual([0, 0, 0]);
  expect(await balance()).toBe(100);
};

describe("checkGeneratedImages", () => {
  it("writes the provider's sourceType into the image, also after a second download", async () => {
    const { provider, storage } = world;
    const imaging: Imaging = world.imaging;
    const { download } = provider;
    provider.download = async (...call) =>
      (await download.apply(provider, call)).map((made) => ({ ...made, sourceType: "algorithmicMedia" }));
    const encoded = vi.spyOn(imaging, "panorama");
    storage.available = false;
    await world.check();
    storage.available = true;
    await world.clock.advance(TEN_MINUTES);
    expect(await world.store()).toBe(1);
    expect(encoded.mock.calls.map(([, , sourceType]) => sourceType)).toEqual(["algorithmicMedia", "algorithmicMedia"]);
  });

  it("encodes a result from reference images as compositeWithTrainedAlgorithmicMedia", async () => {
    const imaging: Imaging = world.imaging;
    const encoded = vi.spyOn(imaging, "panorama");
    const image_urls = ["https://example.com/a.jpg"];
    const request = aCreationRequest({ resolution: "2k", image_urls });
    await world.createPanorama(owner, request);
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.poll();
    expect(await world.check()).toBe(2);
    expect(encoded.mock.calls.map(([, , sourceType]) => sourceType).sort()).toEqual([
      "compositeWithTrainedAlgorithmicMedia",
      "trainedAlgorithmicMedia",
    ]);
  });

  it("lets a task with a usable picture succeed, and stores the bytes that it has downloaded and decoded once", async () => {
    expect(statusOf(await task())).toBe("processing");
    expect(await balance()).toBe(94);
    await world.clock.advance(A_SECOND);
    const lease = vi.spyOn(world.tasks, "moveWithinLease");
    expect(await world.check()).toBe(1);
    const leaseFromNow = new Date(world.clock.now().getTime() + LEASE_MILLISECONDS);
    expect(lease.mock.calls.map(([, , until]) => until)).toEqual([leaseFromNow]);

    expect(await task()).toMatchObject({
      state: "succeeded",
      reservation: { state: "captured", credits: 6 },
      succeededAt: world.clock.now(),
      image: { status: "saved", temporaryUrl: "https://temporary.example/upstream-1" },
      nativeSize: NATIVE_SIZE,
    });
    expect(await balance()).toBe(94);
    expect([world.provider.downloads, world.imaging.decoded, world.storage.objects.size]).toEqual([1, 1, 2]);
    expect(world.reporter.of("picture_measured")).toEqual([
      { kind: "picture_measured", taskId: id, provider: "scripted", nativeSize: NATIVE_SIZE, ...world.imaging.figures },
    ]);
    expect(world.reporter.of("task_succeeded")).toEqual([
      { kind: "task_succeeded", taskId: id, provider: "scripted", seconds: 6 },
    ]);

    await world.clock.advance(TEN_MINUTES);
    expect([await world.check(), await world.store()]).toEqual([0, 0]);
  });

  it.each<[string, Script["download"], string]>([
    ["is not an image", "no_image", "it is not an image"],
    ["is black", "black", "it is a single flat colour"],
    ["is gone", "gone", "the script lets the URL expire"],
    ["can never be downloaded", "unusable", "the script lets the URL lead to a private address"],
  ])("fails and refunds a task at once whose result %s", async (_, download, reason) => {
    world.provider.play({ download });
    expect(await world.check()).toBe(1);
    await expectRefund("unusable_result");
    expect(world.reporter.of("task_failed")).toMatchObject([{ detail: `the result is unusable: ${reason}` }]);
  });

  const { seamMax, seamRatioMax, poleDeviationMax } = RESULT_BOUNDS;

  it.each<[string, Partial<ResultFigures>, string]>([
    ["seam", { seam: seamMax + 0.1 }, "its seam of 50.1 is above 50"],
    ["seam ratio", { seamRatio: seamRatioMax + 0.1 }, "its seam ratio of 8.1 is above 8"],
    ["zenith", { poleDeviation: { zenith: 61, nadir: 0 } }, "its pole deviation of 61 is above 60"],
    ["nadir", { poleDeviation: { zenith: 0, nadir: 61 } }, "its pole deviation of 61 is above 60"],
  ])(
    "fails and refunds a task whose picture has a %s beyond its bound, and stores its figures",
    async (_, worse, flaw) => {
      world.imaging.figures = { ...world.imaging.figures, ...worse };
      await world.check();
      await expectRefund("unusable_result");
      expect(world.reporter.of("picture_measured")).toMatchObject([worse]);
      const detail = `the result is unusable: ${flaw}`;
      expect(world.reporter.of("task_failed")).toMatchObject([{ provider: "scripted", detail }]);
      expect(await task()).toMatchObject({ place: "scripted", figures: world.imaging.figures });
    },
  );

  it("accepts a picture at every bound, and stores its figures and provider", async () => {
    const poleDeviation = { zenith: poleDeviationMax, nadir: poleDeviationMax };
    world.imaging.figures = { seam: seamMax, seamRatio: seamRatioMax, poleDeviation };
    await world.check();
    expect(await task()).toMatchObject({ state: "succeeded", place: "scripted", figures: world.imaging.figures });
  });

  it("repeats a download that fails for now, every five seconds", async () => {
    world.provider.play({ download: "unavailable" });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(await world.check()).toBe(1);
      await world.clock.advance(CHECK_PAUSE - 1);
      expect(await world.check()).toBe(0);
      await world.clock.advance(1);
    }
    expect(world.reporter.of("provider_unavailable")).toHaveLength(3);
    world.provider.play({ download: "image" });
    await world.check();
    expect(await imageStatus()).toBe("saved");
  });

  it.each([
    [
      "fails for now",
      () => world.provider.play({ download: "unavailable" }),
      "the result cannot be downloaded after 600000 ms",
    ],
    [
      "throws an error",
      () => (world.provider.download = () => Promise.reject(new Error("a bug"))),
      "the last attempt threw an error, after 600000 ms",
    ],
  ])("fails and refunds a task at the deadline, not earlier, whose download %s", async (_, breakIt, detail) => {
    breakIt();
    await world.check();
    await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS - world.provider.nextPollMilliseconds() - 1);
    await world.check();
    expect((await task()).state).toBe("generated");

    await world.clock.advance(LEASE_MILLISECONDS);
    await world.check();
    await expectRefund("deadline_passed");
    expect(world.reporter.of("task_failed")).toMatchObject([{ taskId: id, detail }]);
    for (const { work } of world.reporter.of("work_failed")) expect(work).toBe("check");
  });

  it("succeeds while the storage is unavailable, and stores the image later", async () => {
    world.storage.available = false;
    await world.check();
    expect(await task()).toMatchObject({ state: "succeeded", image: { status: "uploading", failedAttempts: 0 } });
    expect(await world.store()).toBe(0);
    await world.clock.advance(A_SECOND);
    expect(await world.store()).toBe(1);
    world.storage.available = true;
    await world.clock.advance(TEN_MINUTES);
    expect(await world.store()).toBe(1);
    expect(await imageStatus()).toBe("saved");
  });

  it("stores nothing of a task that another worker has claimed meanwhile", async () => {
    world.tasks.moveWithinLease = async () => err({ kind: "stale_task", id });
    await world.check();
    expect([world.reporter.of("task_succeeded"), world.storage.objects.size]).toEqual([[], 0]);
  });

  it("reports that a stored image cannot be recorded", async () => {
    const error = new Error("the database is down");
    world.tasks.move = () => Promise.reject(error);
    await world.check();
    expect(world.reporter.of("work_failed")).toEqual([{ kind: "work_failed", work: "check", taskId: id, error }]);
  });

  it("checks other results although the storage answers after half a minute, and with an error", async () => {
    for (let n = 0; n < 4; n += 1) (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    await world.clock.advance(world.provider.nextPollMilliseconds());
    expect(await world.poll()).toBe(4);
    let slow = true;
    let storingMax = 0;
    let storing = 0;
    const put: World["storage"]["put"] = async (...object) => {
      if (!slow) return world.storage.put(...object);
      storing += 1;
      storingMax = Math.max(storingMax, storing);
      await world.clock.sleep(30_000);
      storing -= 1;
      return err({ kind: "storage_unavailable", reason: "it answers with an error" });
    };
    const storage = { put, read: world.storage.read.bind(world.storage), delete: world.storage.delete };
    const service = useCases({ ...world, storage: Object.assign(Object.create(world.storage), storage) });
    let checked = false;
    const checking = service.check().finally(() => {
      checked = true;
    });
    await world.clock.advance(0);
    expect(storing).toBe(2); // as many as are checked at once
    await world.clock.advance(30_000);
    expect(world.reporter.of("task_succeeded")).toHaveLength(5);
    while (!checked) await world.clock.advance(A_SECOND);
    await checking;
    expect(storingMax).toBe(2);

    slow = false;
    for (let seconds = 0; seconds < 1_000; seconds += 100) {
      await world.clock.advance(100 * A_SECOND);
      await service.store();
    }
    expect(await imageStatus()).toBe("saved");
    expect(world.storage.objects.size).toBe(10);
  });

  it.each(["expired", "failed"] as const)(
    "ends with the storage status %s if the provider's sandbox asks for it",
    async (ends) => {
      const { download } = world.provider;
      world.provider.download = async (url) =>
        (await download.call(world.provider, url)).map((one) => ({ ...one, ends }));
      await world.check();
      expect(await imageStatus()).toBe(ends);
      expect(await balance()).toBe(94);
      expect(world.storage.objects.size).toBe(0);
    },
  );
});
