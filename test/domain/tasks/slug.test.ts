import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSlug, slugFrom, viewerPath } from "../../../domain/tasks/slug.js";

describe("a slug", () => {
  it("has 16 letters and digits, is made from random bytes, and is parsed from a URL", () => {
    return fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 40 }), (bytes) => {
        const slug = slugFrom(bytes);
        expect(slug).toMatch(/^[a-z0-9]{16}$/);
        expect(parseSlug(slug)).toBe(slug);
      }),
    );
  });

  it("depends on every one of its 16 bytes", () => {
    for (let at = 0; at < 16; at += 1) {
      expect(slugFrom(new Uint8Array(16).fill(1, at, at + 1))).toBe(`${"a".repeat(at)}b${"a".repeat(15 - at)}`);
    }
    expect(slugFrom(new Uint8Array(16).fill(35))).toBe("9".repeat(16));
  });

  it("cannot be made from fewer than 16 bytes", () => {
    expect(() => slugFrom(new Uint8Array(15))).toThrow("a slug needs 16 random bytes");
  });

  it("returns the path of the public viewer or of the owner's viewer", () => {
    const slug = slugFrom(new Uint8Array(16));
    expect(viewerPath(slug, "public")).toBe("/p/aaaaaaaaaaaaaaaa");
    expect(viewerPath(slug, "private")).toBe("/works/aaaaaaaaaaaaaaaa");
  });
});
