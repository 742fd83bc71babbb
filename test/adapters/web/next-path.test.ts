import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextPath } from "../../../adapters/web/next-path.js";

describe("where a login leads", () => {
  it.each(["/works/abcdefghijklmnop", "/account?order=paid", "/gallery?before=x#top", "/"])("leads to %s", (path) => {
    expect(nextPath(path)).toBe(path);
  });

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
  ])("does not lead to %j, but to the works", (text) => {
    expect(nextPath(text)).toBe("/works");
  });

  it("never leaves the site, whatever it is given", () => {
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
