import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, accountId } from "../../../adapters/contracts/support/builders.js";
import { operatedPanoramas } from "../../../application/operators/panoramas.js";
import { creations } from "../../../application/panoramas/creations.js";
import { panoramas } from "../../../application/panoramas/panoramas.js";
import type { AccountId } from "../../../domain/ids.js";
import type { SucceededTask, Task } from "../../../domain/tasks/task.js";
import { CREATION_SETTINGS } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

const stranger = accountId(404);
const create = async (fields: Parameters<typeof aCreationRequest>[0]): Promise<Task> =>
  (await world.createPanorama(owner, aCreationRequest(fields)))._unsafeUnwrap().task;
const finish = async ({ slug }: Task): Promise<SucceededTask> => {
  await world.clock.advance(5_000);
  await world.settle();
  await world.store();
  return (await panoramas(world).findOwn(slug, owner)) as SucceededTask;
};
const hide = async ({ slug }: Task) =>
  (await operatedPanoramas(world).hidePanorama(slug, { reason: "a report", by: "ann" }))._unsafeUnwrap();

describe("panoramas.findReference", () => {
  const found = async ({ slug }: Task) => {
    const sources = [owner, stranger].map((account) => panoramas(world).findReference(slug, account));
    return (await Promise.all(sources)).map((source) => source?.id);
  };

  it.each([
    ["private", [true, false]],
    ["public", [true, true]],
  ] as const)("finds a %s panorama once it is finished, and until it is hidden", async (visibility, expected) => {
    const task = await create({ visibility });
    expect(await found(task)).toEqual([undefined, undefined]);
    await finish(task);
    expect(await found(task)).toEqual(expected.map((is) => (is ? task.id : undefined)));
    await hide(task);
    expect(await found(task)).toEqual([undefined, undefined]);
  });
});

describe("creations.findSource", () => {
  const found = async (task: Task) => {
    const visitors = [owner, stranger, undefined];
    const sources = visitors.map((visitor) => creations(world, CREATION_SETTINGS).findSource(task, visitor));
    return (await Promise.all(sources)).map((source) => source?.id);
  };
  const changed = async ({ image }: SucceededTask) => {
    const photo = "https://images.example/photo.jpg";
    return create({ image_urls: [photo, world.storage.urlOf(image.imageName)] });
  };

  it("is the panorama among the images, for those who may open it", async () => {
    const source = await finish(await create({ visibility: "private" }));
    const task = await changed(source);
    expect(await found(task)).toEqual([source.id, undefined, undefined]);
    (await world.tasks.setVisibility(source.id, owner, "public"))._unsafeUnwrap();
    expect(await found(task)).toEqual([source.id, source.id, source.id]);
    await hide(source);
    expect(await found(task)).toEqual([undefined, undefined, undefined]);
  });

  it("is absent for a task without images, and for one whose images are no panoramas", async () => {
    expect(await found(await create({}))).toEqual([undefined, undefined, undefined]);
    const image_urls = ["https://images.example/photo.jpg"];
    expect(await found(await create({ image_urls }))).toEqual([undefined, undefined, undefined]);
  });
});
