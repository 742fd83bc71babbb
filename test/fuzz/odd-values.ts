import fc from "fast-check";

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let n = 0; n < depth; n += 1) value = n % 2 === 0 ? [value] : { a: value };
  return value;
};

/** Texts at which parsers, databases and headers tend to break. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff!",
    "é",
    "𝕏",
    "\u202e",
    "\ufeff",
    "\r\nx-injected: 1",
    "null",
    "undefined",
    "NaN",
    "true",
    "-1",
    "0x10",
    "1e309",
    "9007199254740993",
    "99999999999999999999999",
    "__proto__",
    "constructor",
    "toString",
    "../../etc/passwd",
    "%00",
    "%",
    "' or 1=1 --",
    "{{7*7}}",
    "<script>",
    "[object Object]",
    "0000-00-00T00:00:00Z",
    "+275760-09-13T00:00:00.001Z",
    "2026-02-30T10:00:00Z",
    "2026-01-01T00:00:00+99:99",
  ),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(255, 256, 257, 499, 501, 2048, 2049, 4001, 70_000).map((length) => "x".repeat(length)),
);

/** Any JSON value, mostly one of a type or size that nobody expects. Some texts have NUL or lone surrogates. */
export const oddJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    -1,
    0.5,
    1e308,
    -1e308,
    2 ** 31,
    2 ** 53,
    2 ** 63,
    [],
    {},
    [null],
    [[]],
    { length: 1 },
    { toString: 1 },
    JSON.parse('{"__proto__": {"polluted": true}}'),
  ),
  oddText,
  fc.constantFrom(20, 2_000).map(nested),
  fc.constantFrom(10, 5_000).map((length) => Array.from({ length }, (_, n) => n)),
  fc.dictionary(oddText, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** The value with one of its parts, at any depth, replaced by an odd one, removed, or wrapped. */
export const mutatedJson = (value: unknown): fc.Arbitrary<unknown> =>
  fc.tuple(fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), oddJson, fc.nat({ max: 6 })).map(([way, odd, kind]) =>
    replaced(value, way, (old) => {
      if (kind === 0) return REMOVED;
      if (kind === 1) return [old];
      if (kind === 2) return { value: old };
      if (kind === 3 && typeof old === "string") return old.toUpperCase();
      if (kind === 4 && typeof old === "string") return old.slice(0, -1);
      return odd;
    }),
  );

const REMOVED = Symbol();

/** Follows `way` into the value as far as it goes. */
const replaced = (value: unknown, [first = 0, ...rest]: readonly number[], replace: (old: unknown) => unknown) => {
  const change = (part: unknown): unknown => (rest.length === 0 ? replace(part) : replaced(part, rest, replace));
  if (Array.isArray(value) && value.length > 0) {
    const at = first % value.length;
    return value.map((part, n) => (n === at ? change(part) : part)).filter((part) => part !== REMOVED);
  }
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    const entries = Object.entries(value);
    const at = first % entries.length;
    return Object.fromEntries(
      entries.map(([key, part], n) => [key, n === at ? change(part) : part]).filter(([, part]) => part !== REMOVED),
    );
  }
  const made = replace(value);
  return made === REMOVED ? null : made;
};
