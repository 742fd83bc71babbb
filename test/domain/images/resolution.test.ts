import { expect, it } from "vitest";
import { RESOLUTION_NAMES, RESOLUTIONS, resolutionsDescription } from "../../../domain/images/resolution.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";

it.each([
  ["1k", 1024, 512, 4],
  ["2k", 2048, 1024, 6],
  ["4k", 3840, 1920, 10],
] as const)("%s is %i × %i pixels and costs %i credits", (resolution, widthPixels, heightPixels, credits) => {
  expect(RESOLUTIONS[resolution]).toEqual({ widthPixels, heightPixels });
  expect(PANORAMA_POLICY.prices[resolution]).toBe(credits);
});

it("the resolutions are 1k, 2k and 4k only", () => {
  expect(RESOLUTION_NAMES).toEqual(["1k", "2k", "4k"]);
  expect(Object.keys(RESOLUTIONS)).toEqual(["1k", "2k", "4k"]);
});

it("describes the sizes, with or without prices", () => {
  expect(resolutionsDescription()).toBe("1k: 1024 × 512 pixels. 2k: 2048 × 1024 pixels. 4k: 3840 × 1920 pixels.");
  expect(resolutionsDescription(PANORAMA_POLICY.prices)).toBe(
    "1k: 1024 × 512 pixels, 4 credits. 2k: 2048 × 1024 pixels, 6 credits. 4k: 3840 × 1920 pixels, 10 credits.",
  );
});
