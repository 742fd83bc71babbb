import { err, ok, type Result } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { readable } from "../../../adapters/memory/memory-imaging.js";
import { storageProbe } from "../../../application/background/store-panorama.js";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { thumbnailNameOf } from "../../../domain/images/object-name.js";
import {
  KEEP_ATTEMPTS_MAX,
  keepWithoutThumbnail,
  storageRetryAfterSeconds,
  type UploadingImage,
  waitForStorage,
} from "../../../domain/images/storage-status.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { LEASE_MILLISECONDS } from "../../support/application.js";
import { anUnstoredResult } from "../../support/unstored-result.js";
import type { World } from "../../support/world.js";

let world: World;
let owner: AccountId;
let id: TaskId;

beforeEach(async () => {
  ({ world, owner, id } = await anUnstoredResult());
});

const image = async () => ((await world.readTask(id, owner))._unsafeUnwrap() as SucceededTask).image;
const stored = async () => {
  const { imageName } = await image();
  return [imageName, thumbnailNameOf(imageName)].map((name) => {
    const object = world.storage.objects.get(name);
    return object && `${object.contentType}: ${readable(object.bytes)}`;
  });
};
const lastDetail = () => world.reporter.of("image_status").at(-1)?.detail;
const broken = new Error("a bug");
const aMinute = 60_000;
const tenMinutes = 10 * aMinute;
const aDay = 24 * 60 * aMinute;

const panorama = "2048×1024 of https://temporary.example/upstream-1";

describe("storeFinishedImages", () => {
  it("stores the image in the requested size and its thumbnail", async () => {
    expect(await world.store()).toBe(1);
    expect((await image()).status).toBe("saved");
    expect(await stored()).toEqual([`image/jpeg: ${panorama}`, `image/webp: thumbnail of ${panorama}`]);
    expect(world.reporter.of("image_status")).toEqual([
      { kind: "image_status", taskId: id, status: "saved", detail: "stored" },
    ]);
    expect(world.provider.discarded).toEqual([]);

    await world.clock.advance(aDay);
    expect(await world.store()).toBe(0);
  });

  it.each([
    ["can never be downloaded", "unusable", "failed", "the script lets the URL lead to a private address"],
    ["is not an image", "no_image", "failed", "it is not an image"],
    ["is gone", "gone", "expired", "the script lets the URL expire"],
  ] as const)("does not retry an image that %s", async (_, download, status, detail) => {
    world.provider.play({ download });
    await world.store();
    expect([(await image()).status, lastDetail()]).toEqual([status, detail]);
    await world.clock.advance(aDay);
    expect(await world.store()).toBe(0);
  });

  it("fails after the last attempt while the provider is unavailable, and waits between the attempts", async () => {
    world.provider.play({ download: "unavailable" });
    for (let attempt = 0; attempt < KEEP_ATTEMPTS_MAX; attempt += 1) {
      expect((await image()).status).toBe("uploading");
      expect([await world.store(), await world.store()]).toEqual([1, 0]);
      await world.clock.advance(aMinute);
    }
    expect((await image()).status).toBe("failed");
  });

  it("waits longer for the storage the older the panorama is, ten minutes at most", async () => {
    world.storage.available = false;
    await world.clock.advance(aMinute);
    const { succeededAt } = (await world.readTask(id, owner))._unsafeUnwrap() as SucceededTask;
    const wait = 1000 * storageRetryAfterSeconds((world.clock.now().getTime() - succeededAt.getTime()) / 1000);
    expect(await world.store()).toBe(1);
    await world.clock.advance(wait - 1);
    expect(await world.store()).toBe(0);
    await world.clock.advance(1);
    expect(await world.store()).toBe(1);
    await world.clock.advance(aDay);
    expect(await world.store()).toBe(1);
    await world.clock.advance(tenMinutes - 1);
    expect(await world.store()).toBe(0);
    await world.clock.advance(1);
    expect(await world.store()).toBe(1);
  });

  it("deletes the provider's copy once, when the image is saved, if the provider wants that", async () => {
    Object.assign(world.provider, { discardsSaved: true });
    world.provider.play({ download: "unavailable" });
    await world.store();
    expect(world.provider.discarded).toEqual([]);
    world.provider.play({ download: "image_without_thumbnail" });
    await world.clock.advance(aMinute);
    await world.store();
    expect([(await image()).status, world.provider.discarded]).toEqual(["saved-no-thumb", ["upstream-1"]]);
    await world.clock.advance(tenMinutes);
    await world.store();
    expect([(await image()).status, world.provider.discarded]).toEqual(["saved", ["upstream-1"]]);
  });

  it("counts only failed attempts without a working source in between", async () => {
    for (let round = 0; round < KEEP_ATTEMPTS_MAX; round += 1) {
      world.provider.play({ download: "unavailable" });
      await world.store();
      await world.clock.advance(tenMinutes);
      world.provider.play({ download: "image" });
      world.storage.available = false;
      await world.store();
      await world.clock.advance(tenMinutes);
    }
    expect((await image()).status).toBe("uploading");
  });

  it("stores the image without a thumbnail if that fails, and adds the thumbnail later", async () => {
    const { put } = world.storage;
    world.storage.put = async (name, bytes, type) =>
      type === "image/webp"
        ? err({ kind: "storage_unavailable", reason: "no room" })
        : put.call(world.storage, name, bytes, type);
    await world.store();
    expect([(await image()).status, lastDetail()]).toEqual(["saved-no-thumb", "no room"]);
    await world.clock.advance(tenMinutes - 1);
    expect(await world.store()).toBe(0);
    await world.clock.advance(1);
    expect(await world.store()).toBe(1);
    expect([(await image()).status, lastDetail()]).toEqual(["saved-no-thumb", "no room"]);
    world.storage.available = false;
    await world.clock.advance(tenMinutes);
    await world.store();
    const unreadable = "the stored image cannot be read: storage_unavailable";
    expect([(await image()).status, lastDetail()]).toEqual(["saved-no-thumb", unreadable]);
    world.storage.available = true;
    world.storage.put = put;
    await world.clock.advance(tenMinutes);
    await world.store();
    expect([(await image()).status, lastDetail()]).toEqual(["saved", "stored"]);
    expect(await stored()).toEqual([`image/jpeg: ${panorama}`, `image/webp: thumbnail of ${panorama}`]);
  });

  it("logs the outcome that a sandbox prompt asks for", async () => {
    world.provider.play({ download: "image_that_fails" });
    await world.store();
    expect(lastDetail()).toBe("the provider's sandbox: failed");
    (await world.retryImage(id, owner))._unsafeUnwrap();
    world.provider.play({ download: "image_without_thumbnail" });
    await world.store();
    expect(lastDetail()).toBe("the provider's sandbox simulates a thumbnail failure");
  });

  it("leaves a stored image unchanged if it is due again", async () => {
    await world.store();
    const task = (await world.readTask(id, owner))._unsafeUnwrap();
    (await world.tasks.move(task, task, world.clock.now()))._unsafeUnwrap();
    expect(await world.store()).toBe(1);
    expect(lastDetail()).toBe("nothing to do");
    expect((await world.readTask(id, owner))._unsafeUnwrap()).toEqual(task);
    expect(world.provider.downloads).toBe(2);
    await world.clock.advance(aDay);
    expect(await world.store()).toBe(0);
  });

  it("retries a missing thumbnail for one day at most", async () => {
    world.provider.play({ download: "image_without_thumbnail" });
    world.imaging.thumbnails = false;
    await world.store();
    await world.clock.advance(aDay - LEASE_MILLISECONDS);
    expect(await world.store()).toBe(1);
    await world.clock.advance(aDay);
    expect(await world.store()).toBe(0);
    expect((await image()).status).toBe("saved-no-thumb");
  });

  it.each([
    ["the download", () => (world.provider.download = () => Promise.reject(broken))],
    ["the conversion", () => (world.imaging.panorama = () => Promise.reject(broken))],
    ["the storage", () => (world.storage.put = () => Promise.reject(broken))],
  ])("counts an attempt in which %s throws as failed", async (_, breakIt) => {
    breakIt();
    for (let attempt = 0; attempt < KEEP_ATTEMPTS_MAX; attempt += 1) {
      expect((await image()).status).toBe("uploading");
      expect(await world.store()).toBe(1);
      await world.clock.advance(aMinute);
    }
    expect((await image()).status).toBe("failed");
    expect(await world.store()).toBe(0);
    const failed = { kind: "work_failed", work: "store", taskId: id, error: broken };
    expect(world.reporter.of("work_failed")).toEqual(Array(KEEP_ATTEMPTS_MAX).fill(failed));
    expect(lastDetail()).toBe("the attempt threw an error");
  });

  it("retries for one day at most a thumbnail whose conversion throws", async () => {
    world.provider.play({ download: "image_without_thumbnail" });
    await world.store();
    world.imaging.thumbnail = () => Promise.reject(broken);
    await world.clock.advance(tenMinutes);
    expect(await world.store()).toBe(1);
    await world.clock.advance(aDay);
    expect(await world.store()).toBe(1);
    await world.clock.advance(aDay);
    expect(await world.store()).toBe(0);
    expect((await image()).status).toBe("saved-no-thumb");
  });
});

describe("storageProbe", () => {
  it("makes one attempt at a time after the storage has failed, until it works again", async () => {
    const task = (await world.readTask(id, owner))._unsafeUnwrap() as SucceededTask;
    const uploading = task.image as UploadingImage;
    let put: ObjectStorage["put"] = async () => err({ kind: "storage_unavailable", reason: "it is down" });
    const storage = Object.assign(Object.create(world.storage) as World["storage"], {
      put: (...object: Parameters<ObjectStorage["put"]>) => put(...object),
    });
    const probe = storageProbe({ ...world, storage });
    const store = () => probe.store({ task, image: uploading }, new Uint8Array(), { thumbnail: "unavailable" });
    const down = { image: waitForStorage(uploading), detail: "it is down", isStorageUnavailable: true };
    expect(await store()).toEqual(down);
    put = () => Promise.reject(broken);
    await expect(store()).rejects.toBe(broken);

    const ends: ((stored: Result<void, never>) => void)[] = [];
    put = () => new Promise((resolve) => ends.push(resolve));
    const first = store();
    expect(await store()).toEqual({ ...down, detail: "the storage did not answer lately" });
    ends[0]?.(ok(undefined));
    const stored = { image: keepWithoutThumbnail(uploading), detail: expect.stringContaining("thumbnail") };
    expect(await first).toEqual(stored);
    const both = [store(), store()];
    for (const end of ends.slice(1)) end(ok(undefined));
    expect(await Promise.all(both)).toEqual([stored, stored]);
  });
});
