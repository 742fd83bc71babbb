import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { creations } from "../../../application/panoramas/creations.js";
import { StoreBusy } from "../../../application/ports/stores/store-errors.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import type { AccountId } from "../../../domain/ids.js";
import { CREATION_SETTINGS, SUBMISSION_DEADLINE_MILLISECONDS } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const key = "order-4711" as IdempotencyKey;
const lake = aCreationRequest({ prompt: "a quiet lake" });
const forest = aCreationRequest({ prompt: "a dark forest", resolution: "4k" });

describe("an idempotency key", () => {
  let world: World;
  let owner: AccountId;
  beforeEach(async () => {
    world = aWorld();
    owner = await anOwner(world, 100);
  });

  it("replays a task that the store was too busy to record as submitted, also after the recovery has failed it", async () => {
    const move = () => Promise.reject(new StoreBusy("locked"));
    const tasks: typeof world.tasks = Object.assign(Object.create(world.tasks), { move });
    const { create } = creations({ ...world, tasks }, CREATION_SETTINGS);
    const { task } = (await create(owner, lake, key))._unsafeUnwrap();
    world.provider.play({ search: "unavailable" });
    await world.clock.advance(SUBMISSION_DEADLINE_MILLISECONDS);
    await world.recover();

    const before = await world.ledger.balance(owner);
    const { started } = world.provider;
    const replayed = (await world.createPanorama(owner, lake, key))._unsafeUnwrap();
    expect(replayed).toMatchObject({ task: { id: task.id, state: "failed" }, replayed: true });
    expect([await world.ledger.balance(owner), world.provider.started]).toEqual([before, started]);
  });

  it("refuses the key for a request that differs in any field", async () => {
    (await world.createPanorama(owner, lake, key))._unsafeUnwrap();
    for (const other of [
      forest,
      aCreationRequest({ prompt: "a quiet lake", resolution: "2k" }),
      aCreationRequest({ prompt: "a quiet lake", visibility: "public" }),
      aCreationRequest({ prompt: "a quiet lake", image_urls: ["https://example.com/1.jpg"] }),
    ]) {
      expect((await world.createPanorama(owner, other, key))._unsafeUnwrapErr().kind).toBe("invalid_request");
    }
    expect(await world.ledger.balance(owner)).toBe(96);
  });

  it("accepts the same request with another key order or explicit defaults", async () => {
    const { task } = (await world.createPanorama(owner, lake, key))._unsafeUnwrap();
    const explicit = aCreationRequest({ visibility: "private", image_urls: [], prompt: "  a quiet lake " });
    expect((await world.createPanorama(owner, explicit, key))._unsafeUnwrap().task.id).toBe(task.id);
  });
});
