import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeMeterStore } from "../../../adapters/contracts/meter/meter-store-contract.js";
import { memoryMeterStore } from "../../../adapters/memory/memory-meter-store.js";
import type { MeterStore } from "../../../application/ports/stores/meter-store.js";
import { accountId } from "../../../domain/ids.js";
import { meterStoreInMemory } from "../../support/metered.js";

describeMeterStore({ describe, it, beforeEach, afterEach }, "in memory", meterStoreInMemory);

describe("memoryMeterStore", () => {
  it("uses the machine's time and random ids by default", async () => {
    const read = (store: MeterStore) => store.change(accountId("acme"), {}, (record) => ({ answer: record }));
    const before = Date.now();
    const { now, newTaskId } = await read(memoryMeterStore());
    expect(now.getTime()).toBeGreaterThanOrEqual(before);
    expect(now.getTime()).toBeLessThanOrEqual(Date.now());
    expect(newTaskId).toMatch(/^[0-9a-f-]{36}$/);
    expect((await read(memoryMeterStore({ newId: () => "pdf_1" }))).newTaskId).toBe("pdf_1");
    await expect(async () => read(memoryMeterStore({ newId: () => "no id" }))).rejects.toThrow(
      '"no id" cannot be a task id',
    );
  });
});
