import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextPath } from "../../../adapters/web/next-path.js";

describe("nextPath", () => {
  it.each(["/works/abcdefghijklmnop", "/account?order=paid", "/gallery?before=x#top", "/"])(
    "returns the path %s",
    (path) => {
      expect(nextPath(path)).toBe(path);
    },
  );

  it.each([
    null,
    "",
    "works",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/\n/evil.example",
    " //evil.example",
    "/works\r\nSet-Cookie: a=b",
  ])("returns /works for %j", (text) => {
    expect(nextPath(text)).toBe("/works");
  });

  it("returns /works for a path that makes a URL of more than 7,000 characters", () => {
    const ofPrompt = (characters: number) => `/works?${new URLSearchParams({ prompt: "é".repeat(characters) })}`;
    expect(encodeURIComponent(ofPrompt(690)).length).toBeLessThan(7_000);
    expect(nextPath(ofPrompt(690))).toBe(ofPrompt(690));
    expect(nextPath(ofPrompt(710))).toBe("/works");
    expect(nextPath(ofPrompt(4_000))).toBe("/works");
  });

  it("never returns a URL of another site for random text", () => {
    const piece = fc.constantFrom("/", "\\", "evil.example", "@", ":", "?", "#", "..", "\t", "\n", "a", "%2f", "//");
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join("")),
        (text) => {
          expect(new URL(nextPath(text), "https://here.example").origin).toBe("https://here.example");
        },
      ),
    );
  });
});
