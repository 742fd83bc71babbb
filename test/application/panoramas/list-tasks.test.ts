import fc from "fast-check";
import { expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/builders.js";
import { listTasks } from "../../../application/panoramas/list-tasks.js";
import type { TaskId } from "../../../domain/task-id.js";
import { anOwner, aWorld } from "../../support/world.js";

it("listTasks lists every task of the account exactly once, newest first, for every page size", async () => {
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
        const page = await listTasks(world)(owner, limit, before);
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

it("listTasks returns one empty page for an account without tasks", async () => {
  const world = aWorld();
  expect(await listTasks(world)(await anOwner(world, 1), 10)).toEqual({ tasks: [], next: undefined });
});
