import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resultUrlOf } from "../../../domain/images/picture.js";

describe("the URL of a generated image", () => {
  it("is normalized like new URL()", () => {
    expect(resultUrlOf(" HTTPS://P.example:443/a\u0000 ü.jpg?x=\u0000y")).toBe(
      "https://p.example/a%00%20%C3%BC.jpg?x=%00y",
    );
    expect(resultUrlOf("http://p.example")).toBe("http://p.example/");
  });

  it.each(["", "p.example/1.jpg", "/1.jpg", "https://", "ftp://p.example/1.jpg", "data:image/png,", "javascript:1"])(
    "returns undefined for %j",
    (text) => expect(resultUrlOf(text)).toBeUndefined(),
  );

  it("is visible ASCII and idempotent for random texts", () => {
    const unit = fc.constantFrom(
      "\u0000",
      "\n",
      " ",
      "a",
      "ü",
      "\ud800",
      "\u{1f30a}",
      "?",
      "#",
      "/",
      "@",
      ":",
      "%",
      "\\",
    );
    const texts = fc.tuple(fc.constantFrom("", "http:", "https://", "https://p.example/"), fc.string({ unit }));
    fc.assert(
      fc.property(texts, ([start, rest]) => {
        const url = resultUrlOf(start + rest);
        if (url === undefined) return;
        expect(url).toMatch(/^https?:\/\/[\x21-\x7e]+$/);
        expect(resultUrlOf(url)).toBe(url);
      }),
    );
  });
});
