import { expect, it } from "vitest";
import { credits } from "../../domain/credits.js";

it.each([0, 1, Number.MAX_SAFE_INTEGER])("%d is an amount of credits", (amount) => {
  expect(credits(amount)).toBe(amount);
});

it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("%d is none, and a bug", (amount) => {
  expect(() => credits(amount)).toThrow(new RangeError(`${amount} is not a valid amount of credits`));
});
