import { ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../adapters/memory/memory-object-storage.js";
import { storageCheck } from "../../../adapters/observability/storage-check.js";
import { RandomIds } from "../../../adapters/system/random-ids.js";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";

const OK = { name: "storage", ok: true, detail: "The storage takes writes." };
const FAILED = {
  name: "storage",
  ok: false,
  detail: "The storage does not take a write. See the log for the reason, for example a full disk.",
};

const setUp = (storage: Pick<ObjectStorage, "put" | "delete">) => {
  const clock = new HandClock();
  const errors: unknown[] = [];
  const logger = { error: (entry: unknown) => void errors.push(entry) };
  return { clock, errors, check: storageCheck({ storage, ids: new RandomIds(), clock, logger }) };
};

describe("the storage check of /readyz", () => {
  it("stores an object and deletes it", async () => {
    const names: string[] = [];
    const storage = new MemoryObjectStorage();
    const { check } = setUp({
      put: (name, bytes, type) => {
        names.push(name);
        return storage.put(name, bytes, type);
      },
      delete: (name) => storage.delete(name),
    });
    expect(await check()).toEqual(OK);
    expect(names).toEqual([expect.stringMatching(/^panoramas\/[\w-]{22,}\.jpg$/)]);
    expect(storage.objects.size).toBe(0);
  });

  it("asks the storage again after 15 seconds, and only once for all who ask meanwhile", async () => {
    let puts = 0;
    const storage = new MemoryObjectStorage();
    const { check, clock, errors } = setUp({
      put: (name, bytes, type) => {
        puts += 1;
        return storage.put(name, bytes, type);
      },
      delete: (name) => storage.delete(name),
    });
    expect(await Promise.all([check(), check()])).toEqual([OK, OK]);
    storage.available = false;
    await clock.advance(15_000);
    expect(await check()).toEqual(OK);
    await clock.advance(1);
    expect(await check()).toEqual(FAILED);
    expect(puts).toBe(2);
    expect(errors).toEqual([{ event: "storage_check_failed", reason: "the storage is switched off" }]);
    storage.available = true;
    await clock.advance(15_001);
    expect(await check()).toEqual(OK);
  });

  it("fails if the storage does not answer within three seconds", async () => {
    const { check, clock, errors } = setUp({ put: () => new Promise(() => {}), delete: async () => ok(undefined) });
    const checked = check();
    await clock.advance(3_000);
    expect(await checked).toEqual(FAILED);
    expect(errors).toEqual([{ event: "storage_check_failed", reason: "no answer within 3000 ms" }]);
  });
});
