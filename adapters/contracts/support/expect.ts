import { AssertionError, deepStrictEqual } from "node:assert";
import { inspect } from "node:util";

/**
 * Assertions of the contract suites, so that they need no test library. They mean what the functions of the same names
 * mean in vitest.
 */
export const expect = (actual: unknown) => ({
  toBe: (expected: unknown): void => check(Object.is(actual, expected), actual, "to be", expected),
  /** Equal in depth. Properties that are `undefined` count as missing, and classes are not compared. */
  toEqual: (expected: unknown): void => checkEqual(actual, "to equal", expected, "all"),
  /** As `toEqual`, but properties that are `undefined` and classes count. */
  toStrictEqual: (expected: unknown): void => deepStrictEqual(actual, expected),
  /** The expected properties are there, in depth; others may be, too. Arrays have the same length. */
  toMatchObject: (expected: unknown): void => checkEqual(actual, "to match", expected, "some"),
  toHaveLength: (length: number): void => {
    const { length: own } = Object(actual) as { readonly length?: unknown };
    check(own === length, actual, "to have the length", length);
  },
  toBeUndefined: (): void => check(actual === undefined, actual, "to be", undefined),
  toMatch: (pattern: RegExp): void =>
    check(typeof actual === "string" && pattern.test(actual), actual, "to match", pattern),
  /** One element is the same value. */
  toContain: (element: unknown): void => check([...iterable(actual)].includes(element), actual, "to contain", element),
  /** One element is equal in depth. */
  toContainEqual: (element: unknown): void => {
    const found = [...iterable(actual)].some((one) => equals(one, element, "all"));
    check(found, actual, "to contain", element);
  },
  not: {
    toBe: (expected: unknown): void => check(!Object.is(actual, expected), actual, "not to be", expected),
  },
  rejects: {
    /** The promise rejects with this value. */
    toBe: async (expected: unknown): Promise<void> => {
      const outcome = await outcomeOf(actual);
      check("error" in outcome && Object.is(outcome.error, expected), outcome, "to reject with", expected);
    },
    /** The promise rejects with an Error, whose message contains `text`. */
    toThrow: async (text = ""): Promise<void> => {
      const outcome = await outcomeOf(actual);
      const thrown = "error" in outcome && outcome.error instanceof Error ? outcome.error.message : undefined;
      check(thrown?.includes(text) === true, outcome, "to reject with an Error that contains", text);
    },
  },
});

/** In an expected value: any text that matches. */
expect.stringMatching = (pattern: RegExp): unknown => new TextPattern(pattern);

const outcomeOf = (promise: unknown) =>
  Promise.resolve(promise).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

class TextPattern {
  readonly pattern: RegExp;

  constructor(pattern: RegExp) {
    this.pattern = pattern;
  }
}

const checkEqual = (actual: unknown, relation: string, expected: unknown, properties: Compared): void => {
  if (equals(actual, expected, properties)) return;
  check(false, actual, relation, expected, firstDifference(actual, expected, properties, ""));
};

/** ` They differ at entries[2].credits: 3 instead of 4.`, or nothing if the values differ as a whole. */
const firstDifference = (actual: unknown, expected: unknown, properties: Compared, at: string): string => {
  if (hasMembers(actual) && hasMembers(expected)) {
    const keys = new Set([...Object.keys(expected), ...(properties === "all" ? keysOf(actual) : [])]);
    for (const key of keys) {
      const [own, other] = [actual[key], expected[key]];
      if (equals(own, other, properties)) continue;
      const name = isList(expected) ? `[${key}]` : `${at && "."}${key}`;
      return firstDifference(own, other, properties, `${at}${name}`);
    }
  }
  return at && ` They differ at ${at}: ${shown(actual)} instead of ${shown(expected)}.`;
};

const hasMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !(value instanceof TextPattern);

const check = (passed: boolean, actual: unknown, relation: string, expected: unknown, difference = ""): void => {
  if (passed) return;
  const error = new AssertionError({ actual, expected, operator: relation, stackStartFn: check });
  error.message = `Expected ${shown(actual)} ${relation} ${shown(expected)}.${difference}`;
  throw error;
};

const shown = (value: unknown): string => {
  const text = inspect(value, { depth: 8, sorted: true });
  return text.length > 2_000 ? `${text.slice(0, 2_000)} …` : text;
};

const iterable = (value: unknown): Iterable<unknown> =>
  typeof Object(value)[Symbol.iterator] === "function" ? (value as Iterable<unknown>) : [];

/** The properties that `toEqual` compares. */
const keysOf = (value: object): string[] =>
  Object.keys(value).filter((key) => (value as Record<string, unknown>)[key] !== undefined);

/** `some`: the actual value may have other properties, too. */
type Compared = "all" | "some";

const equals = (actual: unknown, expected: unknown, properties: Compared): boolean => {
  if (expected instanceof TextPattern) return typeof actual === "string" && expected.pattern.test(actual);
  if (Object.is(actual, expected)) return true;
  if (typeof actual !== "object" || typeof expected !== "object" || actual === null || expected === null) return false;
  if (tagOf(actual) !== tagOf(expected)) return false;
  if (actual instanceof Date && expected instanceof Date) return Object.is(actual.getTime(), expected.getTime());
  if (actual instanceof Error && expected instanceof Error) return actual.message === expected.message;
  if (actual instanceof RegExp) return String(actual) === String(expected);
  if (actual instanceof Set && expected instanceof Set) {
    const others = [...expected];
    return (
      actual.size === expected.size &&
      [...actual].every((one) => others.some((other) => equals(one, other, properties)))
    );
  }
  if (actual instanceof Map && expected instanceof Map) {
    return (
      actual.size === expected.size &&
      [...actual].every(([key, value]) => expected.has(key) && equals(value, expected.get(key), properties))
    );
  }
  if (isList(actual) && isList(expected)) {
    return (
      actual.length === expected.length &&
      Array.from(expected).every((element, index) => equals(actual[index], element, properties))
    );
  }
  // `toMatchObject` requires properties that are expected to be `undefined` to be there.
  const keys = properties === "all" ? keysOf(expected) : Object.keys(expected);
  if (properties === "all" && keysOf(actual).length !== keys.length) return false;
  return keys.every(
    (key) =>
      key in actual &&
      equals((actual as Record<string, unknown>)[key], (expected as Record<string, unknown>)[key], properties),
  );
};

const tagOf = (value: object): string => Object.prototype.toString.call(value);

const isList = (value: object): value is ArrayLike<unknown> & object =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
