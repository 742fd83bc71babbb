import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeMeter } from "../../../../adapters/contracts/meter-contract.js";
import { describeMeterStore, type MeterStoreUnderTest } from "../../../../adapters/contracts/meter-store-contract.js";
import { inChangingZones } from "../../../../adapters/contracts/support/in-changing-zones.js";
import type { TestFunctions } from "../../../../adapters/contracts/support/test-functions.js";
import type { HandClock } from "../../../../adapters/memory/hand-clock.js";
import type { MeterStore } from "../../../../application/ports/stores/meter-store.js";
import { meterStoreInMemory } from "../../../support/metered.js";

/** What a driver writes to a column of the type `timestamp`, and returns from it: the local time, without its zone. */
const COLUMN = {
  write: (at: Date) =>
    new Date(
      Date.UTC(
        at.getFullYear(),
        at.getMonth(),
        at.getDate(),
        at.getHours(),
        at.getMinutes(),
        at.getSeconds(),
        at.getMilliseconds(),
      ),
    ),
  read: (at: Date) =>
    new Date(
      at.getUTCFullYear(),
      at.getUTCMonth(),
      at.getUTCDate(),
      at.getUTCHours(),
      at.getUTCMinutes(),
      at.getUTCSeconds(),
      at.getUTCMilliseconds(),
    ),
};

/** The same value, with every time in it changed. */
const withTimes = <Value>(value: Value, change: (at: Date) => Date): Value => {
  if (value instanceof Date) return change(value) as Value;
  if (Array.isArray(value)) return value.map((one) => withTimes(one, change)) as Value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withTimes(one, change)])) as Value;
};

/** A store whose tables have columns without a zone. The time itself is that of the clock. */
const withoutZones = (store: MeterStore): MeterStore => ({
  change: (account, query, decide) =>
    store.change(account, query, (record) => {
      const { now } = record;
      const { change, answer } = decide({ ...withTimes(record, COLUMN.read), now });
      return { change: withTimes(change, COLUMN.write), answer };
    }),
  read: async (account, query) => {
    const reading = await store.read(account, query);
    return { ...withTimes(reading, COLUMN.read), now: reading.now };
  },
  entries: async (account, limit, before) => withTimes(await store.entries(account, limit, before), COLUMN.read),
});

const inColumns = async (clock: HandClock): Promise<MeterStoreUnderTest> => {
  const { store, close } = await meterStoreInMemory(clock);
  return { store: withoutZones(store), close };
};

/** The messages of the tests of a suite that fail, by name. */
const failuresOf = async (register: (test: TestFunctions) => void): Promise<Readonly<Record<string, string>>> => {
  const tests = new Map<string, () => Promise<void>>();
  const before: (() => Promise<void>)[] = [];
  const after: (() => Promise<void>)[] = [];
  register({
    describe: (_, inner) => inner(),
    it: (name, run) => void tests.set(name, run),
    beforeEach: (run) => void before.push(run),
    afterEach: (run) => void after.push(run),
  });
  const failures: Record<string, string> = {};
  for (const [name, run] of tests) {
    for (const prepare of before) await prepare();
    await run().catch((error: Error) => {
      failures[name] = error.message;
    });
    for (const end of after) await end();
  }
  return failures;
};

describe("the contract suites, where the time zone of the process is UTC", () => {
  const own = process.env.TZ;

  beforeEach(() => {
    process.env.TZ = "UTC";
  });
  afterEach(() => {
    if (own === undefined) delete process.env.TZ;
    else process.env.TZ = own;
  });

  it("of a meter's store find columns without a zone, and name the wrong time", async () => {
    const failures = await failuresOf((test) => describeMeterStore(test, "in columns", inColumns));
    expect(failures["returns the answer, and stores all of the change, its times to the millisecond"]).toMatch(
      /They differ at open\[0\]\.heldAt: \S+ instead of 2026-01-01T12:00:00\.789Z\.$/,
    );
  });

  it("of a meter find columns without a zone, and print how to repeat it", async () => {
    const failures = await failuresOf((test) => describeMeter(test, "in columns", inColumns, { runs: 50, seed: 7 }));
    const [message = ""] = Object.values(failures);
    expect(message).toMatch(/^Expected .*\nThe input: \[\[.*\]\]\nTo repeat it, give the suite \{ seed: 7, path: "/s);
  });

  it("pass a store that keeps times as they are", async () => {
    expect(await failuresOf((test) => describeMeterStore(test, "in memory", meterStoreInMemory))).toEqual({});
    expect(await failuresOf((test) => describeMeter(test, "in memory", meterStoreInMemory, { runs: 10 }))).toEqual({});
  });
});

describe("an adapter in changing zones", () => {
  const offset = async () => new Date("2026-01-01T12:00:00Z").getTimezoneOffset();

  it("changes the zone in each call, also of its parts, and restores it after close", async () => {
    const before = await offset();
    const adapter = inChangingZones(Object.freeze({ offset, part: { offset }, close: offset }));
    expect([await adapter.offset(), await adapter.part.offset(), await adapter.offset()]).toEqual([-330, 210, -780]);
    expect([await adapter.close(), await offset()]).toEqual([before, before]);
  });
});
