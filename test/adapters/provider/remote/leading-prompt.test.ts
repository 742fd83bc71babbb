import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { photoViews } from "../../../../adapters/provider/photo-views.js";
import {
  type GivenAs,
  leadingCharacters,
  leadingPrompt,
  PROMPT_TEMPLATE,
} from "../../../../adapters/provider/remote/leading-prompt.js";

const images = (count: number) => Array.from({ length: count }, (_, n) => `https://pictures.example/${n}.jpg`);
const givenAs = fc.constantFrom<GivenAs>("separate", "canvas", "panorama");

describe("leadingPrompt", () => {
  it("describes an equirectangular picture, and omits missing reference images", () => {
    expect(leadingPrompt({ prompt: "a lake", imageUrls: [] })).toBe(
      PROMPT_TEMPLATE.replace("{references}", "").replace("{prompt}", "a lake"),
    );
  });

  it("names each picture and where it lies around the viewer", () => {
    const prompt = leadingPrompt({ prompt: undefined, imageUrls: images(3) });
    expect(prompt).toContain("image 1 lies straight ahead");
    expect(prompt).toContain("image 2 lies to the right behind the viewer");
    expect(prompt).toContain("image 3 lies to the left behind the viewer");
    expect(prompt).not.toContain("image 4");
    expect(prompt).toContain("The scene: the place that the pictures show");
  });

  it("describes the painted parts of a canvas and asks for the others", () => {
    const prompt = leadingPrompt({ prompt: "a lake", imageUrls: images(2) }, undefined, "canvas");
    expect(prompt).toContain(
      "The given picture is this panorama with parts already painted: straight ahead, in the middle of the panorama; " +
        "behind the viewer, at the left and right edges. Keep these parts as they are, and paint the rest",
    );
    expect(prompt).not.toContain("image 1");
  });

  it("describes a canvas filled by one panorama as a panorama", () => {
    const prompt = leadingPrompt({ prompt: "a lake", imageUrls: images(1) }, undefined, "panorama");
    expect(prompt).toContain("The given picture is such a panorama already");
    expect(prompt).not.toContain("paint the rest");
  });

  it("names the directions in which photos are projected", () => {
    const photo = { widthPixels: 300, heightPixels: 200 };
    const turns = (count: number) => photoViews(Array(count).fill(photo)).map((view) => view.azimuthRadians / Math.PI);
    expect([turns(1), turns(2), turns(3)]).toEqual([[0], [0, 1], [0, 2 / 3, 4 / 3]]);
    // In the middle is 1/2 of the width; a turn of 2/3 of a half circle to the right is 1/3 of the width further.
    expect(1 / 2 + 1 / 3).toBeCloseTo(5 / 6);
    expect(leadingPrompt({ prompt: "", imageUrls: images(3) })).toContain(
      "image 2 lies to the right behind the viewer",
    );
  });

  it("keeps a template of the operator", () => {
    expect(leadingPrompt({ prompt: "a lake", imageUrls: [] }, "360! {prompt}")).toBe("360! a lake");
  });

  it("keeps the customer's words, and adds at most the stated number of characters", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 3 }), fc.integer({ min: 0, max: 3 }), givenAs, (prompt, count, given) => {
        const sent = leadingPrompt({ prompt, imageUrls: images(count) }, PROMPT_TEMPLATE, given);
        expect(sent.endsWith(`The scene: ${prompt}`)).toBe(true);
        expect([...sent].length).toBeLessThanOrEqual([...prompt].length + leadingCharacters());
      }),
    );
  });
});
