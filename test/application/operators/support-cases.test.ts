import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, accountId } from "../../../adapters/contracts/support/builders.js";
import { createApiKey } from "../../../application/accounts/api-keys.js";
import { explainTask } from "../../../application/operators/explain-task.js";
import { hidePanorama } from "../../../application/operators/hide-panorama.js";
import { findKeyBySecret, revokeKeys } from "../../../application/operators/keys.js";
import { apiKeySecret } from "../../../domain/accounts/api-key.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import type { AccountId } from "../../../domain/ids.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

const aKey = async (limits = NO_LIMITS) => (await createApiKey(world)(owner, "robot", limits))._unsafeUnwrap();

describe("findKeyBySecret", () => {
  it("finds a key by its secret, also a revoked key, and no key by an unknown secret", async () => {
    const { key, secret } = await aKey();
    const other = apiKeySecret(secret.endsWith("A") ? "B".repeat(43) : "A".repeat(43));
    expect(key.prefix).toBe(secret.slice(0, 11));
    expect(await findKeyBySecret(world)(secret)).toEqual(key);
    expect(await findKeyBySecret(world)(other)).toBe(undefined);
    await revokeKeys(world)(owner);
    expect((await findKeyBySecret(world)(secret))?.revokedAt).toEqual(world.clock.now());
  });
});

describe("revokeKeys", () => {
  it("revokes all keys of an account and of no other", async () => {
    const other = await anOwner(world, 100);
    const kept = (await createApiKey(world)(other, "kept"))._unsafeUnwrap().key;
    const before = (await world.keys.listLive(owner)).length;
    await aKey();
    expect((await revokeKeys(world)(owner))._unsafeUnwrap()).toBe(before + 1);
    expect(await world.keys.listLive(owner)).toEqual([]);
    expect((await world.keys.listLive(other)).map(({ id }) => id)).toContain(kept.id);
    expect((await revokeKeys(world)(accountId(404))).isErr()).toBe(true);
  });
});

describe("explainTask", () => {
  it("returns the stages in order with their durations, and the ledger entries", async () => {
    const { task } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    const story = (await explainTask(world)(task.slug))._unsafeUnwrap();
    expect(story.stages.map(({ name }) => name)).toEqual(["created", "submitted"]);
    expect(story.stages.every(({ afterSeconds }) => afterSeconds >= 0)).toBe(true);
    expect(story.entries.map(({ kind }) => kind)).toEqual(["reservation"]);
    expect((await explainTask(world)("nothing"))._unsafeUnwrapErr().kind).toBe("not_found");
  });
});

describe("hidePanorama", () => {
  it("refuses an empty reason and an unknown panorama", async () => {
    const why = { reason: "why", by: "ann" };
    const request = aCreationRequest({ visibility: "public" });
    const { task } = (await world.createPanorama(owner, request))._unsafeUnwrap();
    for (const reason of ["", " ", "x".repeat(201), "a\u0000b"]) {
      expect((await hidePanorama(world)(task.slug, { reason, by: "ann" }))._unsafeUnwrapErr().kind).toBe(
        "invalid_request",
      );
    }
    expect((await hidePanorama(world)("nothing", why))._unsafeUnwrapErr().kind).toBe("not_found");
    expect((await hidePanorama(world)(task.slug, why)).isOk()).toBe(true);
    expect((await hidePanorama(world)(task.slug, undefined)).isOk()).toBe(true);
    expect((await hidePanorama(world)(task.slug, undefined)).isErr()).toBe(true);
  });
});
