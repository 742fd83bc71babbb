import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { imageTypeOf, SIGNATURE_BYTES } from "../../../domain/images/image-type.js";

const jpeg = [0xff, 0xd8, 0xff];
const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const webp = [0x52, 0x49, 0x46, 0x46, 1, 2, 3, 4, 0x57, 0x45, 0x42, 0x50];
const signatures = [
  ["image/jpeg", jpeg, [0, 1, 2]],
  ["image/png", png, [0, 1, 2, 3, 4, 5, 6, 7]],
  ["image/webp", webp, [0, 1, 2, 3, 8, 9, 10, 11]],
] as const;

describe.each(signatures)("the signature of %s", (type, signature, significant) => {
  it("matches with any bytes after it", () => {
    return fc.assert(
      fc.property(fc.uint8Array(), (rest) => {
        expect(imageTypeOf(Uint8Array.of(...signature, ...rest))).toBe(type);
      }),
    );
  });

  it("is compared to its last byte", () => {
    expect(signature.length).toBeLessThanOrEqual(SIGNATURE_BYTES);
    expect(imageTypeOf(Uint8Array.from(signature.slice(0, -1)))).toBeUndefined();
    for (const at of significant) {
      expect(imageTypeOf(Uint8Array.from(signature.map((byte, n) => (n === at ? byte ^ 1 : byte))))).toBeUndefined();
    }
  });
});

it("imageTypeOf returns undefined for a RIFF file that is not WebP", () => {
  expect(imageTypeOf(Buffer.from("RIFF\x24\x00\x00\x00WAVE", "latin1"))).toBeUndefined();
});
