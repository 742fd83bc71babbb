import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shown } from "../../../adapters/wording/shown.js";

describe("a value shown in an error message", () => {
  it.each<[unknown, string]>([
    [undefined, "missing"],
    [null, "null"],
    [true, "true"],
    [-0.5, "-0.5"],
    [Number.NaN, "NaN"],
    [12n, "a bigint"],
    [Symbol("secret"), "a symbol"],
    [() => 1, "a function"],
    [{ a: 1 }, "an object"],
    [[], "an array of 0 items"],
    [[1], "an array of 1 item"],
    [[1, 2], "an array of 2 items"],
    ["", '""'],
    ['say "hi"', '"say \\"hi\\""'],
    ["two\nlines", '"two\\nlines"'],
    ["a\u2028b\u0085c\u007f", '"a\\u2028b\\u0085c\\u007f"'],
    ["turned \u202e around", '"turned \\u202e around"'],
    ["half \ud83d", '"half \\ud83d"'],
    ["x".repeat(60), `"${"x".repeat(60)}"`],
    ["x".repeat(61), `"${"x".repeat(60)}…"`],
    [`${"x".repeat(59)}🌊🌊`, `"${"x".repeat(59)}🌊…"`],
  ])("shows %o as %s", (value, text) => {
    expect(shown(value)).toBe(text);
  });

  it("stays short, on one line and well-formed for random values", () => {
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true, withObjectString: true });
    return fc.assert(
      fc.property(fc.oneof(anything, fc.string({ unit: "binary", maxLength: 500 })), (value) => {
        const text = shown(value);
        expect(text.length).toBeLessThanOrEqual(6 * 60 + 3);
        expect(text).toMatch(/^[^\p{Cc}\p{Zl}\p{Zp}]+$/u);
        expect(text.isWellFormed()).toBe(true);
      }),
    );
  });
});
