import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteRange } from "../../../../adapters/http/routes/asset-route.js";

describe("byteRange of a body of 100 bytes", () => {
  it.each([
    ["bytes=0-0", { start: 0, end: 0 }],
    ["bytes=10-19", { start: 10, end: 19 }],
    ["bytes=90-", { start: 90, end: 99 }],
    ["bytes=90-500", { start: 90, end: 99 }],
    ["bytes=-10", { start: 90, end: 99 }],
    ["bytes=-500", { start: 0, end: 99 }],
    ["bytes=100-", "unsatisfiable"],
    ["bytes=100-200", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=5-4", "whole"],
    ["bytes=-", "whole"],
    ["bytes=0-1,5-6", "whole"],
    ["items=0-1", "whole"],
    ["bytes=a-b", "whole"],
    [undefined, "whole"],
  ])("parses %s as %j", (header, expected) => {
    expect(byteRange(header, 100)).toEqual(expected);
  });

  it("never returns a range outside the body", () => {
    const bound = fc.option(fc.nat().map(String), { nil: "" });
    fc.assert(
      fc.property(bound, bound, fc.nat(1000), (first, last, sizeBytes) => {
        const range = byteRange(`bytes=${first}-${last}`, sizeBytes);
        if (typeof range === "string") return;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.start).toBeLessThanOrEqual(range.end);
        expect(range.end).toBeLessThan(sizeBytes);
      }),
    );
  });
});
