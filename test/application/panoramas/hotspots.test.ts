import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, accountId, noon, taskId } from "../../../adapters/contracts/support/builders.js";
import { findLinkedPanoramas } from "../../../application/panoramas/find-linked-panoramas.js";
import { setHotspots } from "../../../application/panoramas/set-hotspots.js";
import type { AccountId } from "../../../domain/account-id.js";
import { parseHotspots } from "../../../domain/tasks/hotspots.js";
import { type Slug, slug } from "../../../domain/tasks/slug.js";
import type { SucceededTask, Task } from "../../../domain/tasks/task.js";
import type { Visibility } from "../../../domain/tasks/visibility.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
let stranger: AccountId;
let hall: SucceededTask;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
  stranger = await anOwner(world, 100);
  hall = await finished("public");
});

const create = async (visibility: Visibility, account = owner): Promise<Task> => {
  await world.clock.advance(1);
  return (await world.createPanorama(account, aCreationRequest({ visibility })))._unsafeUnwrap().task;
};
const finished = async (visibility: Visibility, account = owner): Promise<SucceededTask> => {
  const { id } = await create(visibility, account);
  await world.clock.advance(5_000);
  await world.settle();
  await world.keep();
  return (await world.tasks.find(id, account)) as SucceededTask;
};
const linkTo = (...slugs: readonly (Slug | undefined)[]) =>
  parseHotspots(slugs.map((to) => ({ yaw: 10, pitch: 0, note: "here", to })))._unsafeUnwrap();
const current = async (): Promise<SucceededTask> => (await world.tasks.find(hall.id, owner)) as SucceededTask;

describe("setHotspots", () => {
  it("replaces the hotspots of a finished panorama, for its owner only", async () => {
    const cellar = await finished("private");
    const hotspots = linkTo(undefined, cellar.slug);
    expect((await setHotspots(world)(hall.id, owner, hotspots)).isOk()).toBe(true);
    expect((await current()).hotspots).toEqual(hotspots);
    expect((await setHotspots(world)(hall.id, stranger, linkTo(undefined)))._unsafeUnwrapErr().kind).toBe("not_found");
    expect((await setHotspots(world)(taskId(404), owner, linkTo()))._unsafeUnwrapErr().kind).toBe("not_found");
    expect((await current()).hotspots).toEqual(hotspots);
    expect((await setHotspots(world)(hall.id, owner, linkTo())).isOk()).toBe(true);
    expect((await current()).hotspots).toBeUndefined();
    const { id } = await create("public");
    expect((await setHotspots(world)(id, owner, hotspots))._unsafeUnwrapErr().kind).toBe("not_found");
  });

  it("refuses each link that leads to no other finished panorama of the owner, with one sentence for all", async () => {
    const deleted = await finished("public");
    (await world.tasks.hide(deleted.id, owner, noon))._unsafeUnwrap();
    const targets = {
      foreign: (await finished("public", stranger)).slug,
      "foreign and private": (await finished("private", stranger)).slug,
      deleted: deleted.slug,
      unfinished: (await create("public")).slug,
      unknown: slug("unknownslug00000"),
      itself: hall.slug,
    };
    for (const [what, actual] of Object.entries(targets)) {
      const refusal = (await setHotspots(world)(hall.id, owner, linkTo(undefined, actual)))._unsafeUnwrapErr();
      expect([what, refusal]).toEqual([
        what,
        { kind: "invalid_request", field: "to", index: 1, rule: { name: "own_panorama", actual } },
      ]);
    }
    expect((await current()).hotspots).toBeUndefined();
  });
});

describe("findLinkedPanoramas", () => {
  it("finds what a visitor may see, now: public ones, and the owner also private and hidden ones", async () => {
    const [open, secret, hidden, deleted] = [
      await finished("public"),
      await finished("private"),
      await finished("public"),
      await finished("public"),
    ];
    const all = [open, secret, hidden, deleted];
    (await setHotspots(world)(hall.id, owner, linkTo(...all.map((task) => task.slug))))._unsafeUnwrap();
    const seen = async (visitor: AccountId | undefined) => {
      const found = await findLinkedPanoramas(world)(await current(), visitor);
      return all.filter((task) => found.some(({ id }) => id === task.id));
    };
    expect(await seen(undefined)).toEqual([open, hidden, deleted]);
    (await world.tasks.withhold(hidden.id, { at: noon, reason: "a report" }))._unsafeUnwrap();
    (await world.tasks.hide(deleted.id, owner, noon))._unsafeUnwrap();
    for (const visitor of [undefined, stranger, accountId(404)]) expect(await seen(visitor)).toEqual([open]);
    expect(await seen(owner)).toEqual([open, secret, hidden]);
    (await world.tasks.setVisibility(open.id, owner, "private"))._unsafeUnwrap();
    expect(await seen(undefined)).toEqual([]);
  });

  it("asks for nothing where there are no links", async () => {
    expect(await findLinkedPanoramas(world)(hall, owner)).toEqual([]);
  });
});
