import fc from "fast-check";
import { expect, it } from "vitest";
import { aCreationRequest } from "../../../../adapters/contracts/support/builders.js";
import { panoramas } from "../../../../application/panoramas/panoramas.js";
import type { TaskId } from "../../../../domain/ids.js";
import { anOwner, aWorld } from "../../../support/world.js";

it("list lists every task of the account exactly once, newest first, for every page size", async () => {
  const world = aWorld();
  const [owner, stranger] = [await anOwner(world, 100), await anOwner(world, 100)];
  const created: TaskId[] = [];
  for (let n = 0; n < 5; n += 1) {
    created.push((await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task.id);
    await world.createPanorama(stranger, aCreationRequest());
  }

  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 7 }), async (limit) => {
      const listed: TaskId[] = [];
      let pages = 0;
      let before: TaskId | undefined;
      do {
        const page = await panoramas(world).list(owner, limit, { before });
        expect(page.tasks.length).toBeLessThanOrEqual(limit);
        listed.push(...page.tasks.map(({ id }) => id));
        before = page.next;
        pages += 1;
      } while (before !== undefined);
      expect(listed).toEqual(created.toReversed());
      expect(pages).toBe(Math.ceil(created.length / limit)); // no empty page at the end
    }),
  );
});

it("list returns one empty page for an account without tasks", async () => {
  const world = aWorld();
  expect(await panoramas(world).list(await anOwner(world, 1), 10)).toEqual({ tasks: [], next: undefined });
});

it("list leads back page by page to the newest", async () => {
  const world = aWorld();
  const owner = await anOwner(world, 100);
  const ids: TaskId[] = [];
  for (let n = 0; n < 5; n += 1) {
    ids.unshift((await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task.id);
  }
  const list = async (before?: TaskId, after?: TaskId) => {
    const { tasks, next, newer } = await panoramas(world).list(owner, 2, { before, after });
    return [tasks.map(({ id }) => id), next, newer];
  };
  expect(await list()).toEqual([ids.slice(0, 2), ids[1], undefined]);
  expect(await list(ids[3])).toEqual([[ids[4]], undefined, ids[4]]);
  expect(await list(undefined, ids[4])).toEqual([ids.slice(2, 4), ids[3], ids[2]]);
  expect(await list(undefined, ids[2])).toEqual([ids.slice(0, 2), ids[1], undefined]);
  expect(await list(undefined, ids[0])).toEqual([[], undefined, undefined]);
});
