import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { credits } from "../../../domain/credits/credits.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import {
  admitUpload,
  countedBytes,
  requireStored,
  UNUSED_REFERENCE_BYTES_MAX,
} from "../../../domain/images/reference-image.js";
import { invalidRequest } from "../../../domain/invalid-request.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";

const MAX = 200 * 1024 * 1024;

describe("an upload", () => {
  it("is allowed with a paid order or 4 credits, up to 200 MiB of unused images", () => {
    expect(UNUSED_REFERENCE_BYTES_MAX).toBe(MAX);
    return fc.assert(
      fc.property(
        fc.nat(8),
        fc.boolean(),
        fc.oneof(fc.nat(2 * MAX), fc.integer({ min: MAX - 3, max: MAX + 3 })),
        fc.oneof(fc.nat(MAX), fc.nat(3)),
        (balance, hasPaidOrder, unusedBytes, addedBytes) => {
          const standing = { credits: credits(balance), hasPaidOrder, unusedBytes };
          const result = admitUpload(standing, addedBytes, PANORAMA_POLICY.prices);
          if (!hasPaidOrder && balance < 4) {
            expect(result).toEqual(err(invalidRequest("files", { name: "paid_order_or_credits", credits: 4 })));
          } else if (unusedBytes + addedBytes > MAX) {
            const rule = { name: "unused_bytes_max", max: MAX, actual: unusedBytes } as const;
            expect(result).toEqual(err(invalidRequest("files", rule)));
          } else expect(result).toEqual(ok(undefined));
        },
      ),
    );
  });

  it.each([
    [1, 65_536],
    [65_536, 65_536],
    [65_537, 65_537],
    [10_000_000, 10_000_000],
  ])("of %i bytes counts as %i", (size, counted) => {
    expect(countedBytes(size)).toBe(counted);
  });
});

describe("the reference images of a creation", () => {
  const [a, b] = ["a", "b"] as unknown as [ObjectName, ObjectName];

  it("returns a refusal that names the first missing image", () => {
    expect(requireStored(new Map(), new Set())).toEqual(ok(undefined));
    expect(requireStored(new Map([[0, a]]), new Set([a, b]))).toEqual(ok(undefined));
    const references = new Map([
      [0, a],
      [2, b],
    ]);
    expect(requireStored(references, new Set([a]))).toEqual(
      err(invalidRequest("image_urls", { name: "missing_image" }, 2)),
    );
  });
});
