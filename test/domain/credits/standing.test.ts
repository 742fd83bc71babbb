import fc from "fast-check";
import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { credits } from "../../../domain/credits/credits.js";
import { crossesLowBalance, parseLowBalanceThreshold } from "../../../domain/credits/standing.js";

it("credits accepts integers from 0 only", () => {
  for (const amount of [0, 1, Number.MAX_SAFE_INTEGER]) expect(credits(amount)).toBe(amount);
  for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    expect(() => credits(amount)).toThrow(new RangeError(`${amount} is not a valid amount of credits`));
  }
});

it("crossesLowBalance is true only for the task that crosses the threshold", () => {
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

it("crossesLowBalance is false at the threshold, and always false for threshold 0", () => {
  expect(crossesLowBalance(credits(14), credits(10), credits(10))).toBe(false);
  expect(crossesLowBalance(credits(10), credits(6), credits(10))).toBe(true);
  expect(crossesLowBalance(credits(10), credits(0), credits(0))).toBe(false);
});

it("parseLowBalanceThreshold accepts 1 to 1,000,000,000", () => {
  for (const text of ["1", "1000000000"]) expect(parseLowBalanceThreshold(text)).toEqual(ok(Number(text)));
  for (const text of ["0", "", "-5", "1.5", "1000000001", "many"]) {
    const rule = { name: "integer", min: 1, max: 1_000_000_000, actual: text };
    expect(parseLowBalanceThreshold(text)).toEqual(err({ kind: "invalid_request", field: "credits", rule }));
  }
});
