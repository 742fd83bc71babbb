import { expect, it } from "vitest";
import { hours } from "../../../adapters/wording/numbers.js";

it.each([
  [1, "1 hour"],
  [2, "2 hours"],
  [24, "24 hours"],
  [36, "36 hours"],
  [48, "2 days"],
  [8760, "365 days"],
])("%i is written as %s", (count, text) => {
  expect(hours(count)).toBe(text);
});
