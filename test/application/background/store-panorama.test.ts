import { expect, it } from "vitest";
import { publicNameOf } from "../../../application/background/store-panorama.js";

it.each([
  ["local", "local"],
  ["fal:seedream-4.5", "fal"],
  ["replicate:owner/name", "replicate"],
  // Servers of our own, behind the name of their provider and without it.
  ["comfyui:10.0.0.5:8188/inner:qwen-image-360", "comfyui"],
  ["10.0.0.5:8188/inner:qwen-image-360", "unknown"],
])("the public name of the place %s is %s", (place, name) => {
  expect(publicNameOf(place)).toBe(name);
});
