import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IMAGE_TYPES } from "../../domain/image-type.js";
import { panoramaName, parseObjectName, referenceImageName, thumbnailNameOf } from "../../domain/object-name.js";

const hexadecimal = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 });
const unguessable = fc
  .uint8Array({ minLength: 17, maxLength: 48 })
  .map((bytes) => Buffer.from(bytes).toString("base64url"));

describe("an object's name", () => {
  it("is derived from the bytes of a reference image", () => {
    const sha256 = "0123456789abcdef".repeat(4);
    expect(referenceImageName(sha256, "image/jpeg")).toBe(`references/${sha256}.jpg`);
    expect(referenceImageName(sha256, "image/png")).toBe(`references/${sha256}.png`);
    expect(referenceImageName(sha256, "image/webp")).toBe(`references/${sha256}.webp`);
  });

  it("puts a thumbnail beside its panorama", () => {
    const name = panoramaName("unguessable.jpg-0000000");
    expect(name).toBe("panoramas/unguessable.jpg-0000000.jpg");
    expect(thumbnailNameOf(name)).toBe("panoramas/unguessable.jpg-0000000-thumbnail.webp");
  });

  it("is parsed from a URL", () => {
    return fc.assert(
      fc.property(hexadecimal, fc.constantFrom(...IMAGE_TYPES), unguessable, (sha256, type, random) => {
        const panorama = panoramaName(random);
        for (const name of [referenceImageName(sha256, type), panorama, thumbnailNameOf(panorama)]) {
          expect(parseObjectName(name)).toBe(name);
        }
      }),
    );
  });

  const sha256 = "a".repeat(64);
  const random = "b".repeat(22);
  it.each([
    "",
    "references/",
    `/references/${sha256}.jpg`,
    `references/${sha256}`,
    `references/${sha256}.gif`,
    `references/${sha256}.jpg\n`,
    `references/${sha256}.jpg/..`,
    `references/${sha256.toUpperCase()}.jpg`,
    `references/${sha256.slice(1)}.jpg`,
    `references/../panoramas/${random}.jpg`,
    `references//${sha256}.jpg`,
    `references\\${sha256}.jpg`,
    `references%2f${sha256}.jpg`,
    `panoramas/${random}.png`,
    `panoramas/${random.slice(1)}.jpg`,
    `panoramas/${"b".repeat(65)}.jpg`,
    `panoramas/${random}.jpg\u0000.jpg`,
    `panoramas/../../../../../../etc/passwd.jpg`,
    `others/${random}.jpg`,
    "../service.sqlite",
  ])("cannot be %j", (text) => {
    expect(parseObjectName(text)).toBeUndefined();
  });

  it("never points outside its two folders", () => {
    const piece = fc.constantFrom("references", "panoramas", "/", "..", ".", "\\", "%2e", "a".repeat(64), ".jpg");
    return fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const name = parseObjectName(pieces.join(""));
        if (name !== undefined) expect(name).toMatch(/^(references|panoramas)\/[^/\\%]+$/);
      }),
    );
  });
});
