import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutAtWord } from "../../../adapters/wording/shown.js";

describe("a text that is cut at a word", () => {
  it.each([
    ["a quiet lake", "a quiet lake"],
    ["a quiet lake at dawn", "a quiet lake…"],
    ["a quiet lakes at dawn", "a quiet…"],
    ["a quiet, cold lake", "a quiet…"],
    ["incomprehensibilities", "incomprehens…"],
    ["静かな湖の夜明けに霧が立ちこめて", "静かな湖の夜明けに霧が立…"],
  ])("of %j to twelve characters is %j", (text, short) => {
    expect(cutAtWord(text, 12)).toBe(short);
  });

  it("equals the text, or at least half of the maximum followed by an ellipsis", () => {
    const words = fc.array(fc.stringMatching(/^[a-zé湖]{1,12}$/), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(words, fc.integer({ min: 12, max: 40 }), (all, charactersMax) => {
        const text = all.join(" ");
        const short = cutAtWord(text, charactersMax);
        if (text.length <= charactersMax) {
          expect(short).toBe(text);
          return;
        }
        const kept = short.slice(0, -1);
        expect([short.at(-1), text.startsWith(kept)]).toEqual(["…", true]);
        expect(kept.length).toBeLessThanOrEqual(charactersMax);
        expect(kept.length).toBeGreaterThanOrEqual(charactersMax / 2);
        // It ends with a word, unless its second half has none.
        if (text[kept.length] !== " ") expect(kept.lastIndexOf(" ")).toBeLessThan(charactersMax / 2);
      }),
    );
  });
});
