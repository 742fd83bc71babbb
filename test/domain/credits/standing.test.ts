import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { credits } from "../../../domain/credits/credits.js";
import { parseLowBalanceThreshold } from "../../../domain/credits/standing.js";

it("credits accepts integers from 0 only", () => {
  for (const amount of [0, 1, Number.MAX_SAFE_INTEGER]) expect(credits(amount)).toBe(amount);
  for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    expect(() => credits(amount)).toThrow(new RangeError(`${amount} is not a valid amount of credits`));
  }
});

it("parseLowBalanceThreshold accepts 1 to 1,000,000,000", () => {
  for (const text of ["1", "1000000000"]) expect(parseLowBalanceThreshold(text)).toEqual(ok(Number(text)));
  for (const text of ["0", "", "-5", "1.5", "1000000001", "many"]) {
    const rule = { name: "integer", min: 1, max: 1_000_000_000, actual: text };
    expect(parseLowBalanceThreshold(text)).toEqual(err({ kind: "invalid_request", field: "credits", rule }));
  }
});
