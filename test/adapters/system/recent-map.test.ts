import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecentMap } from "../../../adapters/system/recent-map.js";

describe("RecentMap", () => {
  it("keeps the entries that were used last, at most twice as many, and no value that was replaced", () => {
    const key = fc.nat({ max: 9 });
    const call = fc.oneof(
      fc.record({ name: fc.constant("set" as const), key, value: fc.nat() }),
      fc.record({ name: fc.constant("get" as const), key }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(call, { maxLength: 60 }), (max, calls) => {
        const recent = new RecentMap<number, number>(max);
        const all = new Map<number, number>();
        /** The keys in the order of their last use. */
        let used: number[] = [];
        for (const made of calls) {
          const { key } = made;
          used = used.filter((one) => one !== key);
          if (made.name === "set") {
            recent.set(key, made.value);
            all.set(key, made.value);
          } else {
            const value = recent.get(key);
            if (value !== undefined) expect(value).toBe(all.get(key));
            else all.delete(key);
          }
          if (all.has(key)) used.push(key);
        }
        const kept = [...Array(10).keys()].filter((one) => recent.has(one));
        expect(kept.length).toBeLessThanOrEqual(2 * max);
        expect(kept).toEqual(expect.arrayContaining(used.slice(-max).filter((one) => all.has(one))));
      }),
    );
  });
});
