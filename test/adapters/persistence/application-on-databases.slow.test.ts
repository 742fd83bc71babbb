import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { createsFiftyConcurrently } from "../../support/fifty-creations.js";
import { freshDatabase } from "../../support/postgres.js";
import { postgresStores } from "../../support/postgres-stores.js";
import { sqliteStores } from "../../support/sqlite-stores.js";
import { anOwner, aWorld } from "../../support/world.js";

describe.each([
  ["SQLite", sqliteStores],
  ["PostgreSQL", async () => postgresStores(await freshDatabase())],
])("the application on %s", (_, open) => {
  it("admits five of fifty concurrent creations", async () => {
    const stores = await open();
    await createsFiftyConcurrently(aWorld(stores));
    await stores.close();
  });

  it("ends a task whose result URL has a NUL character", async () => {
    const stores = await open();
    const world = aWorld(stores);
    const owner = await anOwner(world, 4);
    const { task } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    world.provider.poll = async () => ok({ state: "succeeded", temporaryUrl: "https://p.example/1\u0000.jpg" });
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
    expect(await stores.tasks.find(task.id, owner)).toMatchObject({
      state: "succeeded",
      image: { temporaryUrl: "https://p.example/1%00.jpg" },
    });
    await stores.close();
  });
});
