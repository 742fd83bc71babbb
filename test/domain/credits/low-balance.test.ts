import fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { credits } from "../../../domain/credits/credits.js";
import { crossesLowBalance, parseLowBalanceThreshold } from "../../../domain/credits/standing.js";

describe("crossesLowBalance", () => {
  it("is true only for the task that crosses the threshold", () => {
    const costs = fc.array(fc.constantFrom(4, 6, 10), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), costs, (threshold, prices) => {
        let balance = prices.reduce((sum, price) => sum + price, 0);
        const isLowAtFirst = balance < threshold;
        const crossings = prices.filter((price) => {
          const before = credits(balance);
          balance -= price;
          return crossesLowBalance(before, credits(balance), credits(threshold));
        });
        expect(crossings).toHaveLength(isLowAtFirst ? 0 : 1); // at the end the balance is 0
      }),
    );
  });

  it("is false at the threshold, and always false for threshold 0", () => {
    expect(crossesLowBalance(credits(14), credits(10), credits(10))).toBe(false);
    expect(crossesLowBalance(credits(10), credits(6), credits(10))).toBe(true);
    expect(crossesLowBalance(credits(10), credits(0), credits(0))).toBe(false);
  });
});

describe("parseLowBalanceThreshold", () => {
  it("accepts 1 to 1,000,000,000", () => {
    expect(parseLowBalanceThreshold("1")).toEqual(ok(1));
    expect(parseLowBalanceThreshold("1000000000")).toEqual(ok(1_000_000_000));
  });

  it.each(["0", "", "-5", "1.5", "1000000001", "many"])("refuses %j", (text) => {
    const rule = { name: "integer", min: 1, max: 1_000_000_000, actual: text };
    expect(parseLowBalanceThreshold(text)).toEqual(err({ kind: "invalid_request", field: "credits", rule }));
  });
});
