import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const TEN_MINUTES = 10 * 60_000;
const A_DAY = 24 * 60 * 60_000;

type Panorama = { readonly world: World; readonly owner: AccountId; readonly id: TaskId };

/** A panorama whose image is stored, with or without its thumbnail, or whose image could not be stored. */
const aPanorama = async (image: "saved" | "saved-no-thumb" | "failed"): Promise<Panorama> => {
  const world = aWorld();
  const owner = await anOwner(world, 100);
  const { id } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task;
  await world.clock.advance(world.provider.nextPollMilliseconds());
  world.storage.available = image !== "failed";
  world.imaging.thumbnails = image === "saved";
  await world.settle();
  world.storage.available = true;
  world.imaging.thumbnails = true;
  if (image === "failed") {
    world.provider.play({ download: "unusable" });
    await world.clock.advance(1_000);
    await world.store();
    world.provider.play({ download: "image" });
  }
  expect(((await world.tasks.find(id, owner)) as SucceededTask).image.status).toBe(image);
  return { world, owner, id };
};

describe("deletePanorama", () => {
  let panorama: Panorama;
  const statusOf = async ({ world, owner, id }: Panorama) => (await world.readTask(id, owner)).isOk();

  beforeEach(async () => {
    panorama = await aPanorama("saved");
  });

  it("succeeds also if it is deleted already, and is not_found for others and for an unknown id", async () => {
    const { world, owner, id } = panorama;
    const stranger = await anOwner(world, 100);
    const notFound = (id: TaskId) => err({ kind: "not_found", message: `There is no task ${id} on this account.` });
    expect(await world.deletePanorama(id, stranger)).toEqual(notFound(id));
    expect(await world.deletePanorama(taskId(404), owner)).toEqual(notFound(taskId(404)));
    expect(world.storage.objects.size).toBe(2);
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    expect(await world.deletePanorama(id, stranger)).toEqual(notFound(id));
  });

  it("can be repeated after the storage was unavailable", async () => {
    const { world, owner, id } = panorama;
    world.storage.available = false;
    expect((await world.deletePanorama(id, owner))._unsafeUnwrapErr().kind).toBe("storage_unavailable");
    expect(await statusOf(panorama)).toBe(true);
    world.storage.available = true;
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    expect(world.storage.objects.size).toBe(0);
  });

  it("succeeds while the provider is unavailable; the copy is deleted when it is available again", async () => {
    const { world, owner, id } = panorama;
    world.provider.play({ discard: "unavailable" });
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    for (let n = 0; n < 3; n += 1) {
      expect(await world.erase()).toBe(1);
      await world.clock.advance(TEN_MINUTES - 1);
      expect(await world.erase()).toBe(0);
      await world.clock.advance(1);
    }
    world.provider.play({ discard: "done" });
    expect(await world.erase()).toBe(1);
    expect(world.provider.discarded).toEqual(["upstream-1"]);
    const detail = "the provider's copy of an image is not deleted: the script is unavailable";
    const unavailable = { kind: "provider_unavailable", taskId: id, detail };
    expect(world.reporter.of("provider_unavailable")).toEqual([unavailable, unavailable, unavailable]);
  });

  it("gives the provider's copy up a day after the generation", async () => {
    const { world, owner, id } = panorama;
    world.provider.play({ discard: "unavailable" });
    await world.deletePanorama(id, owner);
    let attempts = 0;
    for (let n = 0; n < 200; n += 1) {
      attempts += await world.erase();
      await world.clock.advance(TEN_MINUTES);
    }
    expect(attempts).toBe(145); // now, then every ten minutes of a day
  });

  it("deletes the objects when the storage is available again, after any delay", async () => {
    const { world, owner, id } = panorama;
    await world.deletePanorama(id, owner);
    world.storage.available = false;
    await world.erase();
    await world.clock.advance(2 * A_DAY);
    await world.erase();
    const failed = { kind: "work_failed", work: "erase", taskId: id, error: "the storage is switched off" };
    expect(world.reporter.of("work_failed")).toEqual([failed, failed]);
    world.storage.available = true;
    await world.clock.advance(TEN_MINUTES);
    expect(await world.erase()).toBe(1);
    await world.clock.advance(TEN_MINUTES);
    expect(await world.erase()).toBe(0);
  });

  it("stays incomplete while the image is being stored", async () => {
    const { world, owner, id } = await aPanorama("failed");
    (await world.retryImage(id, owner))._unsafeUnwrap();
    expect(await world.deletePanorama(id, owner)).toEqual(err({ kind: "not_finished" }));
  });
});
