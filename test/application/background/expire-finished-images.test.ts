import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { settled } from "../../../adapters/memory/settled.js";
import type { AccountId } from "../../../domain/account-id.js";
import { audit } from "../../../domain/credits/ledger.js";
import type { TaskId } from "../../../domain/task-id.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { IMAGE_RETENTION_MILLISECONDS, LEASE_MILLISECONDS, useCases } from "../../support/application.js";
import { PortGates } from "../../support/port-gates.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

/** The application model (test/application/model.slow.test.ts) has the interleavings of several instances. */
describe("expireFinishedImages", () => {
  let world: World;
  let owner: AccountId;

  beforeEach(async () => {
    world = aWorld();
    owner = await anOwner(world, 2_000);
  });

  /** Public panoramas with a stored image. */
  const finished = async (count: number): Promise<TaskId[]> => {
    const ids: TaskId[] = [];
    for (let n = 0; n < count; n += 1) {
      const created = await world.createPanorama(owner, aCreationRequest({ visibility: "public" }));
      ids.push(created._unsafeUnwrap().task.id);
      await world.clock.advance(world.provider.nextPollMilliseconds());
      await world.settle();
    }
    return ids;
  };
  const imageOf = async (id: TaskId) => ((await world.readTask(id, owner))._unsafeUnwrap() as SucceededTask).image;
  const passRetention = () => world.clock.advance(IMAGE_RETENTION_MILLISECONDS + 1);

  it("expires an image when its retention is over, not earlier, and then deletes its objects and the provider's copy", async () => {
    const [id = "" as TaskId] = await finished(1);
    expect((await imageOf(id)).status).toBe("saved");
    await world.clock.advance(IMAGE_RETENTION_MILLISECONDS);
    expect(await world.expireImages()).toBe(0);
    await world.clock.advance(1);
    expect(await world.expireImages()).toBe(1);
    expect((await imageOf(id)).status).toBe("expired");
    expect(await world.tasks.listPublic(9, undefined)).toEqual([]);

    // A worker with an earlier lease may still store the thumbnail.
    await world.clock.advance(LEASE_MILLISECONDS - 1);
    expect(await world.erase()).toBe(0);
    expect(world.storage.objects.size).toBe(2);
    await world.clock.advance(1);
    expect(await world.keep()).toBe(0);
    expect(await world.erase()).toBe(1);
    expect(world.storage.objects.size).toBe(0);
    expect(world.provider.discarded).toEqual(["upstream-1"]);
    await world.clock.advance(LEASE_MILLISECONDS);
    expect([await world.expireImages(), await world.erase(), await world.keep()]).toEqual([0, 0, 0]);
  });

  it("returns no credits, and sends no event", async () => {
    await finished(1);
    await passRetention();
    await world.expireImages();
    expect(await world.ledger.balance(owner)).toBe(1_996);
    for await (const { standing, entries, tasks } of world.ledger.all()) {
      expect(audit(standing, entries, tasks)).toEqual([]);
      expect(entries.map(({ kind }) => kind)).toEqual(["purchase", "reservation"]);
    }
    const events = await world.events.after(owner, 0, 10);
    expect(events.map(({ event }) => event.type)).toEqual(["panorama.succeeded", "panorama.saved"]);
  });

  it("reads 100 images per statement, oldest first, and each is expired by one of two instances", async () => {
    await finished(250);
    await passRetention();
    const limits: number[] = [];
    const tasks = {
      ...world.tasks,
      move: world.tasks.move.bind(world.tasks),
      listKeptImages: (before: Date, limit: number) => {
        limits.push(limit);
        return world.tasks.listKeptImages(before, limit);
      },
    };
    const { expireImages } = useCases({ ...world, tasks });
    const expired = await Promise.all([expireImages(), world.expireImages()]);
    expect(expired[0] + expired[1]).toBe(250);
    expect(new Set(limits)).toEqual(new Set([100]));
    await world.clock.advance(LEASE_MILLISECONDS);
    expect(await world.erase()).toBe(250);
    expect(world.storage.objects.size).toBe(0);
  });

  it("tries an object again while the storage is unavailable", async () => {
    await finished(2);
    await passRetention();
    await world.expireImages();
    world.storage.available = false;
    await world.clock.advance(LEASE_MILLISECONDS);
    expect(await world.erase()).toBe(2);
    expect(world.storage.objects.size).toBe(4);
    world.storage.available = true;
    await world.clock.advance(10 * 60_000);
    expect(await world.erase()).toBe(2);
    expect(world.storage.objects.size).toBe(0);
  });

  it("deletes the thumbnail that a paused worker has stored after the objects were deleted", async () => {
    world.imaging.thumbnails = false;
    const [id = "" as TaskId] = await finished(1);
    expect((await imageOf(id)).status).toBe("saved-no-thumb");
    await world.clock.advance(IMAGE_RETENTION_MILLISECONDS);
    world.imaging.thumbnails = true;
    const gates = new PortGates();
    const paused = useCases({ ...world, storage: gates.guard(world.storage, { losable: false }) });
    const keeping = paused.keep();
    await settled();
    await gates.resume(0); // it has read the image, and is about to store the thumbnail
    await world.clock.advance(1);
    await world.expireImages();
    await world.clock.advance(LEASE_MILLISECONDS);
    await world.erase();
    expect(world.storage.objects.size).toBe(0);
    while (gates.halted > 0) await gates.resumeAll();
    await keeping;
    expect(world.storage.objects.size).toBe(0);
  });

  it("stops before the next image when the service stops", async () => {
    await finished(3);
    await passRetention();
    expect(await world.expireImages(AbortSignal.abort())).toBe(0);
    const stopping = new AbortController();
    const move = world.tasks.move.bind(world.tasks);
    world.tasks.move = (...parameters) => {
      stopping.abort();
      return move(...parameters);
    };
    expect(await world.expireImages(stopping.signal)).toBe(1);
    expect(await world.expireImages()).toBe(2);
  });
});
