import { expect, it } from "vitest";
import { credits } from "../../../domain/credits/credits.js";

it.each([0, 1, Number.MAX_SAFE_INTEGER])("credits accepts %d", (amount) => {
  expect(credits(amount)).toBe(amount);
});

it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("credits throws for %d", (amount) => {
  expect(() => credits(amount)).toThrow(new RangeError(`${amount} is not a valid amount of credits`));
});
