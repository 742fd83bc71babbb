import { expect, it } from "vitest";
import { costOf, RESOLUTION_NAMES, RESOLUTIONS } from "../../domain/resolution.js";

it.each([
  ["1k", 1024, 512, 4],
  ["2k", 2048, 1024, 6],
  ["4k", 3840, 1920, 10],
] as const)("%s is %i × %i pixels and costs %i credits", (resolution, widthPixels, heightPixels, credits) => {
  expect(RESOLUTIONS[resolution]).toEqual({ widthPixels, heightPixels, credits });
  expect(costOf(resolution)).toBe(credits);
});

it("the resolutions are 1k, 2k and 4k only", () => {
  expect(RESOLUTION_NAMES).toEqual(["1k", "2k", "4k"]);
  expect(Object.keys(RESOLUTIONS)).toEqual(["1k", "2k", "4k"]);
});
