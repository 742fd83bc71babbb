import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import {
  checkSameRequest,
  deletedReplay,
  type IdempotencyKey,
  idempotencyKey,
  parseIdempotencyKey,
} from "../../../domain/credits/idempotency.js";

const visibleAscii = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));

describe("an idempotency key", () => {
  it("equals itself in quotes", () => {
    const bareKey = fc
      .oneof(fc.constant("k".repeat(255)), fc.string({ unit: visibleAscii, minLength: 1, maxLength: 255 }))
      .filter((text) => !/^".*"$/.test(text));
    return fc.assert(
      fc.property(bareKey, (key) => {
        expect(parseIdempotencyKey(key)).toEqual(ok(key));
        expect(parseIdempotencyKey(`"${key}"`)).toEqual(ok(key));
      }),
    );
  });

  it.each(['a"b"', '"a"b', '"', 'a"'])("keeps the quotes that do not enclose it: %j", (text) => {
    expect(parseIdempotencyKey(text)).toEqual(ok(text));
  });

  it.each([
    ["", ""],
    ['""', ""],
    ["two words", "two words"],
    ['" key"', " key"],
    ["key\n", "key\n"],
    ["key\u0000", "key\u0000"],
    ["key\u007f", "key\u007f"],
    ["schlüssel", "schlüssel"],
    ["🔑", "🔑"],
    ["k".repeat(256), "k".repeat(256)],
    [`"${"k".repeat(256)}"`, "k".repeat(256)],
  ])("cannot be %j", (text, actual) => {
    const rule = { name: "visible_ascii", min: 1, max: 255, actual };
    expect(parseIdempotencyKey(text)).toEqual(err({ kind: "invalid_request", field: "Idempotency-Key", rule }));
  });

  it("idempotencyKey throws for an invalid key", () => {
    expect(idempotencyKey("upload-7")).toBe("upload-7");
    expect(() => idempotencyKey("two words")).toThrow(
      new RangeError('"two words" cannot be an idempotency key: 1 to 255 visible ASCII characters'),
    );
  });

  it("is refused for a different request", () => {
    const request = { key: "key" as IdempotencyKey, request: "a".repeat(64) };
    expect(checkSameRequest("a".repeat(64), request, 24)).toEqual(ok(undefined));
    expect(checkSameRequest("b".repeat(64), request, 24)).toEqual(
      err({ kind: "invalid_request", field: "Idempotency-Key", rule: { name: "key_reused", hours: 24 } }),
    );
  });

  it("is refused if its panorama was deleted", () => {
    expect(deletedReplay("0190")).toEqual({
      kind: "invalid_request",
      field: "Idempotency-Key",
      rule: { name: "key_of_deleted", taskId: "0190" },
    });
  });
});
