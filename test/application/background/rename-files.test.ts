import { err } from "neverthrow";
import { expect, it, vi } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { panoramaTask } from "../../../application/events/panorama-task.js";
import { operatedPanoramas } from "../../../application/operators/panoramas.js";
import type { TaskId } from "../../../domain/ids.js";
import { thumbnailNameOf } from "../../../domain/images/object-name.js";
import type { SucceededTask } from "../../../domain/tasks/task.js";
import { anOwner, aWorld } from "../../support/world.js";

const PANORAMAS = 3;

it("renames the files of everything that is hidden when the storage is available again, also half-way", async () => {
  const world = aWorld();
  const owner = await anOwner(world, 1_000);
  const ids: TaskId[] = [];
  for (let n = 0; n < PANORAMAS; n += 1) {
    const request = aCreationRequest({ visibility: "public" });
    ids.push((await world.createPanorama(owner, request))._unsafeUnwrap().task.id);
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
  }
  const read = async () => (await Promise.all(ids.map((id) => world.tasks.find(id, owner)))) as SucceededTask[];
  const bytesOf = (tasks: readonly SucceededTask[]) =>
    tasks.flatMap(({ image }) =>
      [image.imageName, thumbnailNameOf(image.imageName)].map((name) => world.storage.objects.get(name)),
    );
  const before = await read();
  const [bytes, names] = [bytesOf(before), [...world.storage.objects.keys()]];
  expect(names).toHaveLength(2 * PANORAMAS);

  world.storage.available = false;
  const hidden = await operatedPanoramas(world).hideAllPanoramas(owner, { reason: "why", by: "ann" });
  expect(hidden._unsafeUnwrap()).toBe(PANORAMAS);
  await world.store();
  expect(world.reporter.of("work_failed")).toHaveLength(PANORAMAS);
  expect([...world.storage.objects.keys()]).toEqual(names);
  expect((await read()).map(({ image }) => image.imageName)).toEqual(before.map(({ image }) => image.imageName));

  world.storage.available = true;
  await world.clock.advance(60_000);
  const busy = err({ kind: "storage_unavailable", reason: "busy" } as const);
  vi.spyOn(world.storage, "read").mockResolvedValueOnce(busy);
  vi.spyOn(world.storage, "put").mockResolvedValueOnce(busy);
  const stuck = names.find((name) => name.endsWith(".webp"));
  const remove = world.storage.delete.bind(world.storage);
  world.storage.delete = async (name) => {
    if (name !== stuck) return remove(name);
    world.storage.delete = remove;
    return busy;
  };
  for (const left of [3, 2, 1]) {
    expect(await world.store()).toBe(left);
    await world.clock.advance(60_000);
  }
  const after = await read();
  expect(bytesOf(after)).toEqual(bytes);
  expect(world.storage.objects.size).toBe(2 * PANORAMAS);
  expect(names.filter((name) => world.storage.objects.has(name))).toEqual([]);
  await world.clock.advance(60_000);
  expect(await world.store()).toBe(0);

  const [task] = after as [SucceededTask];
  const stored = [task.image.imageName, thumbnailNameOf(task.image.imageName)].map((name) => world.storage.urlOf(name));
  const toldOf = (hiddenReason: string | undefined) => {
    const told = JSON.stringify(panoramaTask({ ...task, hiddenReason }, { ...world, viewerUrl: undefined }));
    return stored.map((url) => told.includes(url));
  };
  expect(toldOf("why")).toEqual([false, false]);
  expect(toldOf(undefined)).toEqual([true, true]);
});
