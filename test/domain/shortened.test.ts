import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shortened } from "../../domain/text.js";

describe("a shortened text", () => {
  it.each([
    ["", ""],
    ["lake", "lake"],
    ["lakes", "lake…"],
    ["🌊🌊🌊🌊", "🌊🌊🌊🌊"],
    ["🌊🌊🌊🌊🌊", "🌊🌊🌊🌊…"],
    ["a🌊a🌊a", "a🌊a🌊…"],
    ["x".repeat(250_000), "xxxx…"],
  ])("of %j to four characters is %j", (text, short) => {
    expect(shortened(text, 4)).toBe(short);
  });

  it("equals the text, or its first characters and an ellipsis, without splitting a character", () => {
    return fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 12 }), (text, charactersMax) => {
        const characters = [...text];
        const short = shortened(text, charactersMax);
        if (characters.length <= charactersMax) expect(short).toBe(text);
        else expect([...short]).toEqual([...characters.slice(0, charactersMax), "…"]);
      }),
    );
  });
});
