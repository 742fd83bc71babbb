import * as fc from "fast-check";
import { expect, it } from "vitest";
import { nearName, shortened } from "../../domain/text.js";

it.each([
  ["", ""],
  ["lake", "lake"],
  ["lakes", "lake…"],
  ["🌊🌊🌊🌊🌊", "🌊🌊🌊🌊…"],
  ["x".repeat(250_000), "xxxx…"],
])("%j, shortened to four characters, is %j", (text, short) => {
  expect(shortened(text, 4)).toBe(short);
});

it("a shortened text has the first characters and an ellipsis, without splitting a character", () => {
  const unit = fc.constantFrom("a", " ", "ä", "🌊", "\ud83c", "\udf0a");
  return fc.assert(
    fc.property(fc.string({ unit }), fc.integer({ min: 1, max: 12 }), (text, charactersMax) => {
      const characters = [...text];
      const short = shortened(text, charactersMax);
      if (characters.length <= charactersMax) expect(short).toBe(text);
      else expect([...short]).toEqual([...characters.slice(0, charactersMax), "…"]);
    }),
  );
});

const OURS = ["prompt", "image_urls", "max_credits", "webhook_url", "seed", "metadata", "files"];

it.each([
  ["prompt", "Prompt prompts PROMPT"],
  ["image_urls", "image_url imageUrls imageURL image-urls image_urls[] image_urls[0] imageUris image images"],
  ["image_urls", "reference_images inputImageUrl images_url"],
  ["max_credits", "maxCredits max_credit"],
  ["webhook_url", "webhookUrl webhook"],
  ["seed", "Seed"],
  ["metadata", "meta_data"],
  ["files", "file files[1]"],
  [
    undefined,
    "_ s url urls promptinput sprompt urlprompt sead speed model image_size num_images prompt_strength credits",
  ],
])("the near name is %s of each of %s", (meant, names) => {
  for (const name of names.split(" ")) expect([name, nearName(name, OURS)]).toEqual([name, meant]);
});

it("a known name, an empty one, and one of more than 64 characters have no near name", () => {
  for (const name of ["", ...OURS]) expect(nearName(name, OURS)).toBeUndefined();
  expect(nearName(`prompt${"_".repeat(58)}`, OURS)).toBe("prompt");
  expect(nearName(`prompt${"_".repeat(59)}`, OURS)).toBeUndefined();
});
