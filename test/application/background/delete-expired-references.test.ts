import { ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { deleteExpiredReferences } from "../../../application/background/erase.js";
import type { AccountId } from "../../../domain/ids.js";
import { type ObjectName, referenceImageName } from "../../../domain/images/object-name.js";
import { LEASE_MILLISECONDS, RETENTION_MILLISECONDS } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

const settings = { retentionMilliseconds: RETENTION_MILLISECONDS, leaseMilliseconds: LEASE_MILLISECONDS };
const bytes = Buffer.from("image");

/** Uploads this many images that no task uses. */
const upload = async (count: number) => {
  const files = Array.from({ length: count }, (_, n) => ({
    content: `content ${n}`,
    countedBytes: 1,
    name: referenceImageName(`unguessable-${n.toString().padStart(10, "0")}`, "image/png"),
  }));
  const names = (await world.references.add(owner, files, world.clock.now(), () => ok(undefined)))._unsafeUnwrap();
  for (const name of names) await world.storage.put(name, bytes, "image/png");
};

describe("deleteExpiredReferences", () => {
  it("deletes every unused image once its time is over, not earlier, and again if the storage was away", async () => {
    await upload(250);
    await world.clock.advance(RETENTION_MILLISECONDS);
    expect(await world.deleteExpired()).toBe(0);
    await world.clock.advance(1);
    world.storage.available = false;
    expect(await world.deleteExpired()).toBe(0);
    world.storage.available = true;
    expect(await world.deleteExpired()).toBe(0);
    await world.clock.advance(LEASE_MILLISECONDS);
    expect(await world.deleteExpired()).toBe(250);
    expect(world.storage.objects.size).toBe(0);
    await world.clock.advance(LEASE_MILLISECONDS);
    expect(await world.deleteExpired()).toBe(0);
    expect(world.reporter.of("images_expired")).toEqual([{ kind: "images_expired", count: 250 }]);
  });

  it("works on 100 images per statement, and reads no further after the last ones", async () => {
    await upload(250);
    await world.clock.advance(RETENTION_MILLISECONDS + 1);
    const statements: [string, number][] = [];
    const { references } = world;
    const recorded = async <T extends number | unknown[]>(name: string, limit: number, answer: Promise<T>) => {
      statements.push([name, limit]);
      return answer;
    };
    const counted = Object.assign(Object.create(references) as typeof references, {
      expire: (before: Date, now: Date, limit: number) =>
        recorded("expire", limit, references.expire(before, now, limit)),
      claimDeletable: (now: Date, until: Date, limit: number) =>
        recorded("claim", limit, references.claimDeletable(now, until, limit)),
    });
    expect(await deleteExpiredReferences({ ...world, references: counted }, settings)).toBe(250);
    expect(statements).toEqual([
      ["expire", 100],
      ["expire", 100],
      ["expire", 100],
      ["claim", 100],
      ["claim", 100],
      ["claim", 100],
    ]);
  });

  it("stops before the next object when the service stops, and the rest is deleted after the lease", async () => {
    await upload(5);
    await world.clock.advance(RETENTION_MILLISECONDS + 1);
    const stopping = new AbortController();
    const { storage } = world;
    const stopAtFirst = Object.assign(Object.create(storage) as typeof storage, {
      delete: (name: ObjectName) => {
        stopping.abort();
        return storage.delete(name);
      },
    });
    expect(await deleteExpiredReferences({ ...world, storage: stopAtFirst }, settings, stopping.signal)).toBe(1);
    expect(storage.objects.size).toBe(4);
    await world.clock.advance(LEASE_MILLISECONDS);
    expect(await world.deleteExpired(stopping.signal)).toBe(0);
    expect(await world.deleteExpired()).toBe(4);
  });

  it("does nothing once the service is stopping", async () => {
    await upload(1);
    await world.clock.advance(RETENTION_MILLISECONDS + 1);
    const never = () => Promise.reject(new Error("it was called"));
    const methods = { expire: never, claimDeletable: never, forget: never };
    const references = Object.assign(Object.create(world.references) as typeof world.references, methods);
    expect(await deleteExpiredReferences({ ...world, references }, settings, AbortSignal.abort())).toBe(0);
  });
});
