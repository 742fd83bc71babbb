import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, accountId } from "../../../adapters/contracts/builders.js";
import { changeVisibility } from "../../../application/panoramas/change-visibility.js";
import { findOwnPanorama } from "../../../application/panoramas/find-own-panorama.js";
import { findPublicPanorama } from "../../../application/panoramas/find-public-panorama.js";
import { listPublicPanoramas } from "../../../application/panoramas/list-public-panoramas.js";
import type { AccountId } from "../../../domain/account.js";
import type { Slug } from "../../../domain/slug.js";
import type { Task } from "../../../domain/task.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

const create = async (visibility: "public" | "private"): Promise<Task> => {
  await world.clock.advance(1);
  return (await world.createPanorama(owner, aCreationRequest({ visibility })))._unsafeUnwrap().task;
};
const finish = async () => {
  await world.clock.advance(5_000);
  await world.settle();
  await world.keep();
};
const unknown = "unknown-slug-000" as Slug;

describe("findOwnPanorama", () => {
  it("finds a panorama in any state, for its owner only", async () => {
    const { slug, id } = await create("private");
    expect((await findOwnPanorama(world)(slug, owner))?.id).toBe(id);
    await finish();
    expect(await findOwnPanorama(world)(slug, owner)).toMatchObject({ id, state: "succeeded" });
    expect(await findOwnPanorama(world)(slug, accountId(404))).toBeUndefined();
    expect(await findOwnPanorama(world)(unknown, owner)).toBeUndefined();
  });
});

describe("findPublicPanorama", () => {
  it("finds a public panorama once it is finished", async () => {
    const { slug, id } = await create("public");
    expect(await findPublicPanorama(world)(slug)).toBeUndefined();
    await finish();
    expect(await findPublicPanorama(world)(slug)).toMatchObject({ id, state: "succeeded" });
    expect(await findPublicPanorama(world)(unknown)).toBeUndefined();
  });

  it("follows a change of the visibility by the owner, and refuses one by others", async () => {
    const { slug, id } = await create("private");
    await finish();
    expect(await findPublicPanorama(world)(slug)).toBeUndefined();
    expect((await changeVisibility(world)(id, accountId(404), "public"))._unsafeUnwrapErr().kind).toBe("not_found");
    expect(await findPublicPanorama(world)(slug)).toBeUndefined();
    expect((await changeVisibility(world)(id, owner, "public")).isOk()).toBe(true);
    expect((await findPublicPanorama(world)(slug))?.id).toBe(id);
  });
});

describe("listPublicPanoramas", () => {
  it("lists the public panoramas newest first, page by page", async () => {
    const made: Task[] = [];
    for (const visibility of ["public", "private", "public", "public"] as const) made.push(await create(visibility));
    expect(await listPublicPanoramas(world)(9)).toEqual({ panoramas: [], next: undefined, newer: undefined });
    await finish();
    const newestFirst = [made[3]?.id, made[2]?.id, made[0]?.id];
    const pages: (string | undefined)[][] = [];
    for (let before: Task["id"] | undefined, page = 0; page < 9; page += 1) {
      const { panoramas, next } = await listPublicPanoramas(world)(2, before);
      pages.push(panoramas.map(({ id }) => id));
      if (next === undefined) break;
      before = next;
    }
    expect(pages).toEqual([newestFirst.slice(0, 2), newestFirst.slice(2)]);
    const whole = await listPublicPanoramas(world)(3);
    expect(whole.panoramas.map(({ id }) => id)).toEqual(newestFirst);
    expect([whole.next, whole.newer]).toEqual([undefined, undefined]);
  });

  it("leads back page by page to the newest", async () => {
    const made: Task[] = [];
    for (let n = 0; n < 5; n += 1) made.push(await create("public"));
    await finish();
    const ids = made.map(({ id }) => id).reverse();
    const list = listPublicPanoramas(world);
    const last = await list(2, ids[3]);
    expect([last.panoramas.map(({ id }) => id), last.next, last.newer]).toEqual([[ids[4]], undefined, ids[4]]);
    const middle = await list(2, undefined, last.newer);
    expect([middle.panoramas.map(({ id }) => id), middle.next, middle.newer]).toEqual([
      ids.slice(2, 4),
      ids[3],
      ids[2],
    ]);
    const first = await list(2, undefined, middle.newer);
    expect([first.panoramas.map(({ id }) => id), first.next, first.newer]).toEqual([
      ids.slice(0, 2),
      ids[1],
      undefined,
    ]);
  });
});
