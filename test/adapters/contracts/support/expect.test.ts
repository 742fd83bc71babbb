import fc from "fast-check";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, it, expect as reference } from "vitest";
import { expect as own } from "../../../../adapters/contracts/support/expect.js";
import type { TestFunctions } from "../../../../adapters/contracts/support/test-functions.js";

const passes = (assertion: () => void): boolean => {
  try {
    assertion();
    return true;
  } catch {
    return false;
  }
};

/** Values as stores return them, often equal or almost equal to each other. */
const leaf = fc.constantFrom<unknown>(
  ...[undefined, null, 0, 1, "", "a", true, new Date(0), new Date(1), new Error("a"), Buffer.from("a")],
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie("any"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b"), tie("any"), { noNullPrototype: true }),
    tie("any").map((one) => ok(one)),
    tie("any").map((one) => err(one)),
  ),
})).any;

describe("expect of the contract suites", () => {
  for (const matcher of ["toBe", "toEqual", "toStrictEqual", "toContainEqual"] as const) {
    it(`passes ${matcher} for the same values as vitest`, () => {
      const list = (one: unknown) => (matcher === "toContainEqual" ? [one, 2] : one);
      fc.assert(
        fc.property(value, value, (actual, expected) => {
          const byReference = passes(() => reference(list(actual))[matcher](expected));
          reference(passes(() => own(list(actual))[matcher](expected))).toBe(byReference);
        }),
      );
    });
  }

  it("passes toMatchObject for no values for which vitest does not", () => {
    fc.assert(
      fc.property(value, value, (actual, expected) => {
        fc.pre(typeof expected === "object" && expected !== null && passes(() => own(actual).toMatchObject(expected)));
        reference(actual).toMatchObject(expected);
      }),
    );
  });

  it("passes the other assertions for exactly these values", async () => {
    const assertions: readonly (readonly [() => void, boolean])[] = [
      [() => own([1]).toHaveLength(1), true],
      [() => own(undefined).toHaveLength(0), false],
      [() => own(undefined).toBeUndefined(), true],
      [() => own(null).toBeUndefined(), false],
      [() => own("https://a").toMatch(/^https:/), true],
      [() => own(1).toMatch(/1/), false],
      [() => own([1, 2]).toContain(2), true],
      [() => own([{}]).toContain({}), false],
      [() => own({ a: 1, b: [{ c: 2, d: 3 }] }).toMatchObject({ b: [{ c: 2 }] }), true],
      [() => own({ b: [{ c: 2 }, 1] }).toMatchObject({ b: [{ c: 2 }] }), false],
      [() => own({ a: 1 }).toMatchObject({ b: undefined }), false],
      [() => own(new Set([{ a: 1 }])).toEqual(new Set([{ a: 1 }])), true],
      [() => own(new Set([{ a: 1 }])).toEqual(new Set([{ a: 2 }])), false],
      [() => own(new Map([["a", [1]]])).toEqual(new Map([["a", [1]]])), true],
      [() => own(new Map([["a", [1]]])).toEqual(new Map([["b", [1]]])), false],
      [() => own(1).not.toBe(2), true],
      [() => own(1).not.toBe(1), false],
      [() => own({ a: "b" }).toEqual({ a: own.stringMatching(/b/) }), true],
      [() => own({ a: 1 }).toEqual({ a: own.stringMatching(/1/) }), false],
    ];
    reference(assertions.map(([assertion]) => passes(assertion))).toEqual(assertions.map(([, passed]) => passed));
    await own(Promise.reject(new Error("a bug"))).rejects.toThrow("bug");
    await own(Promise.reject(new Error())).rejects.toThrow();
    const bug = new Error("a bug");
    await own(Promise.reject(bug)).rejects.toBe(bug);
    await reference(own(Promise.reject(new Error("a bug"))).rejects.toBe(bug)).rejects.toThrow("to reject with");
    await reference(own(Promise.resolve(bug)).rejects.toBe(bug)).rejects.toThrow("to reject with");
    await reference(own(Promise.reject(new Error("a bug"))).rejects.toThrow("other")).rejects.toThrow("other");
    await reference(own(Promise.resolve(1)).rejects.toThrow()).rejects.toThrow("to reject");
  });

  it("shows the expected and the received value", () => {
    reference(() => own({ a: 1 }).toEqual({ a: 2 })).toThrow("Expected { a: 1 } to equal { a: 2 }.");
    reference(() => own(1).toEqual(2)).toThrow(/^Expected 1 to equal 2\.$/);
  });

  it.each([
    [{ a: 1, b: [{ c: 2, d: 3 }] }, { a: 1, b: [{ c: 2, d: 4 }] }, "b[0].d: 3 instead of 4"],
    [[1, 2], [1], "[1]: 2 instead of undefined"],
    [[{ a: 1 }], [{ a: 1, b: 2 }], "[0].b: undefined instead of 2"],
    [{ at: new Date(0) }, { at: new Date(1) }, "at: 1970-01-01T00:00:00.000Z instead of 1970-01-01T00:00:00.001Z"],
  ])("shows the first difference of %j and %j", (actual, expected, difference) => {
    reference(() => own(actual).toEqual(expected)).toThrow(`They differ at ${difference}.`);
  });

  it("takes the functions of vitest", () => {
    const test: TestFunctions = { describe, it, beforeEach, afterEach };
    reference(test.it).toBe(it);
  });
});
