import fc from "fast-check";
import { resolved, type Schema } from "./described.js";
import { mutatedJson, oddJson, oddText } from "./odd-values.js";

const METADATA = fc.dictionary(fc.string({ minLength: 1, maxLength: 40 }), fc.string({ maxLength: 500 }), {
  maxKeys: 16,
});

const httpsUrl = fc
  .tuple(fc.webUrl({ validSchemes: ["https"], withQueryParameters: true }), fc.constantFrom("", "/é", "/%F0%9F%98%80"))
  .map((parts) => parts.join(""));

/** Values that the schema describes. Knows the parts of JSON Schema that the OpenAPI description uses. */
const valid = (reference: Schema): fc.Arbitrary<unknown> => {
  const schema = resolved(reference) as {
    readonly type?: string;
    readonly enum?: readonly unknown[];
    readonly const?: unknown;
    readonly format?: string;
    readonly minLength?: number;
    readonly maxLength?: number;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly minItems?: number;
    readonly maxItems?: number;
    readonly items?: Schema;
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly required?: readonly string[];
  };
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "string":
      if (schema.format === "uri") return httpsUrl;
      if (schema.format === "date-time") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
      return fc.string({ minLength: schema.minLength ?? 3, maxLength: Math.min(schema.maxLength ?? 30, 4_000) });
    case "integer":
    case "number":
      return fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 1_000_000, 2 ** 31 - 1) });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valid(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: schema.maxItems ?? 3,
      });
    case "object": {
      const properties = Object.entries(schema.properties ?? {});
      if (properties.length === 0) return METADATA;
      return fc.record(Object.fromEntries(properties.map(([name, part]) => [name, valid(part)])), {
        requiredKeys: [...(schema.required ?? []), "prompt"].filter((name) => name in (schema.properties ?? {})),
      });
    }
    default:
      return fc.constant("any");
  }
};

/** One step outside a limit of the schema, or right at it. */
const nearly = (reference: Schema): fc.Arbitrary<unknown> => {
  const { enum: values, minimum, maximum, minLength, maxLength, maxItems, items, format } = resolved(reference);
  const edges: unknown[] = [];
  for (const edge of [minimum, maximum]) {
    if (typeof edge === "number") edges.push(edge - 1, edge, edge + 1, edge + 0.5, String(edge));
  }
  for (const edge of [minLength, maxLength]) {
    if (typeof edge !== "number") continue;
    for (const length of [edge - 1, edge, edge + 1]) {
      if (length < 0) continue;
      edges.push("a".repeat(length), "𝕏".repeat(length), " ".repeat(length), `https://x.example/${"a".repeat(length)}`);
    }
  }
  if (Array.isArray(values)) edges.push(...values.flatMap((value) => [`${value} `, String(value).toUpperCase()]));
  if (format === "uri")
    edges.push(
      ...["http://x.example", "HTTPS://x.example", "https://", "https:/x", "https://a:b@x.example"],
      ...["https://[::1", "https://x.example:99999", "https://x.%zz/", "https://x^y/"], // no URL can be parsed from these
    );
  if (typeof maxItems === "number") {
    const urls = valid((items as Schema | undefined) ?? {});
    return fc.oneof(
      fc.constant([]),
      fc.array(urls, { minLength: maxItems, maxLength: maxItems + 2 }),
      fc.array(nearly((items as Schema | undefined) ?? {}), { minLength: 1, maxLength: 2 }),
      oddJson,
    );
  }
  return edges.length === 0 ? oddJson : fc.constantFrom(...edges);
};

/** Bodies for the schema of an object: valid, nearly valid, and invalid ones. */
export const bodyValues = (schema: Schema): fc.Arbitrary<unknown> => {
  const properties = Object.entries((resolved(schema).properties ?? {}) as Readonly<Record<string, Schema>>);
  const oneWrong = fc.constantFrom(...properties).chain(([name, part]) =>
    fc.tuple(valid(schema), fc.oneof(nearly(part), oddJson)).map(([body, value]) => ({
      ...(body as object),
      [name]: value,
    })),
  );
  return fc.oneof(
    { weight: 4, arbitrary: valid(schema) },
    { weight: 5, arbitrary: oneWrong },
    { weight: 2, arbitrary: valid(schema).chain(mutatedJson) },
    { weight: 1, arbitrary: oddJson },
  );
};

/** Texts for a parameter: valid, nearly valid, and invalid ones. */
export const parameterTexts = (schema: Schema): fc.Arbitrary<string> =>
  fc.oneof(valid(schema).map(text), nearly(schema).map(text), oddText);

const text = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
