import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { creationIn, nextIn, nextPath, nextQuery } from "../../../adapters/web/paths.js";

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

  it("returns /works for a path that makes a query of more than 7,000 characters", () => {
    const ofPrompt = (characters: number) => `/works?${new URLSearchParams({ prompt: "é".repeat(characters) })}`;
    expect(ofPrompt(1_164).length).toBe(6_998); // a prompt is encoded once
    expect(nextPath(ofPrompt(1_164))).toBe(ofPrompt(1_164));
    for (const characters of [1_165, 4_000]) expect(nextPath(ofPrompt(characters))).toBe("/works");
    const ofSearch = (characters: number) => `/works?q=${"%".repeat(characters)}`;
    expect(encodeURIComponent(ofSearch(2_328)).length).toBe(6_999); // and any other path once more, in `next`
    expect(nextPath(ofSearch(2_328))).toBe(ofSearch(2_328));
    expect(nextPath(ofSearch(2_329))).toBe("/works");
  });

  it("names the page to open next in the address of a login, where it is read again, within 7,000 characters", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 900 });
    const path = fc.oneof(
      text.map((prompt) => `/works?${new URLSearchParams({ prompt })}`),
      fc.tuple(text, text).map(([prompt, q]) => `/works?${new URLSearchParams({ prompt, q })}`),
      fc.constantFrom("/works", "/account/keys", "/works?from=abc#create"),
    );
    fc.assert(
      fc.property(path, (wanted) => {
        const next = nextPath(wanted);
        const query = nextQuery(next).toString();
        expect(query.length).toBeLessThanOrEqual(7_000);
        const read = nextIn(new URLSearchParams(query));
        const prompt = new URLSearchParams(wanted.split("?")[1]).get("prompt")?.trim();
        // White space around a prompt is not a part of it.
        if (creationIn(next) === undefined) expect(read).toBe(next);
        else expect(read).toBe(`/works?${new URLSearchParams({ prompt: prompt ?? "" })}`);
      }),
    );
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
