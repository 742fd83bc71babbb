import { expect, it } from "vitest";
import { nearName } from "../../domain/text.js";

const OURS = ["prompt", "image_urls", "max_credits", "webhook_url", "seed", "metadata", "files"];

it.each([
  ["Prompt", "prompt"],
  ["prompts", "prompt"],
  ["PROMPT", "prompt"],
  ["image_url", "image_urls"],
  ["imageUrls", "image_urls"],
  ["imageURL", "image_urls"],
  ["image-urls", "image_urls"],
  ["image_urls[]", "image_urls"],
  ["image_urls[0]", "image_urls"],
  ["imageUris", "image_urls"],
  ["image", "image_urls"],
  ["images", "image_urls"],
  ["reference_images", "image_urls"],
  ["inputImageUrl", "image_urls"],
  [" image_urls", "image_urls"],
  ["maxCredits", "max_credits"],
  ["max_credit", "max_credits"],
  ["webhookUrl", "webhook_url"],
  ["webhook", "webhook_url"],
  ["Seed", "seed"],
  ["meta_data", "metadata"],
  ["file", "files"],
  ["files[1]", "files"],
])("%s is nearly %s", (name, meant) => {
  expect(nearName(name, OURS)).toBe(meant);
});

it.each([
  "",
  "_",
  "s",
  "url",
  "urls",
  "sead",
  "speed",
  "model",
  "image_size",
  "num_images",
  "prompt_strength",
  "credits",
])("%j is nearly no name of ours", (name) => {
  expect(nearName(name, OURS)).toBeUndefined();
});

it("nearName returns undefined for a known name and for more than 64 characters", () => {
  for (const name of OURS) expect(nearName(name, OURS)).toBeUndefined();
  expect(nearName(`prompt${"_".repeat(58)}`, OURS)).toBe("prompt");
  expect(nearName(`prompt${"_".repeat(59)}`, OURS)).toBeUndefined();
});
