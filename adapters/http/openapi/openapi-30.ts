type Json = Readonly<Record<string, unknown>>;

/** Members whose values are data, and no part of the description. */
const DATA: ReadonlySet<string> = new Set(["default", "enum", "example", "x-panorama"]);

/** Keywords that schemas of 3.0 do not have. Generators do not need them. */
const UNKNOWN_IN_30 = ["contentEncoding", "contentMediaType", "propertyNames"] as const;

/**
 * The same description in the words of OpenAPI 3.0.3, for generators that do not read 3.1. Its webhooks are in
 * `x-webhooks`, which 3.0 leaves to tools.
 */
export const openApi30 = (document: object): Json => {
  const { webhooks, info, ...rest } = document as Json;
  return {
    ...membersIn30(rest),
    openapi: "3.0.3",
    info: infoIn30(info as Info),
    ...(webhooks !== undefined && { "x-webhooks": in30(webhooks) }),
  };
};

type Info = { readonly license?: { readonly name: string; readonly identifier?: string } };

const infoIn30 = ({ license, ...info }: Info): Json => {
  if (license?.identifier === undefined) return { ...info, ...(license && { license }) };
  const url = `https://spdx.org/licenses/${license.identifier}.html`;
  return { ...info, license: { name: license.name, url } };
};

const in30 = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(in30);
  return isObject(value) ? schemaIn30(membersIn30(value)) : value;
};

const membersIn30 = (object: Json): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object).map(([key, member]) => {
      // A property may have the name of a keyword, such as `type`: it is not one.
      if (key === "properties") return [key, membersIn30(member as Json)];
      return [key, DATA.has(key) ? member : in30(member)];
    }),
  );

/** Objects other than schemas have none of these members. */
const schemaIn30 = (schema: Record<string, unknown>): Json => {
  const { $ref, type, const: only, examples, exclusiveMinimum, exclusiveMaximum, anyOf, ...rest } = schema;
  for (const keyword of UNKNOWN_IN_30) delete rest[keyword];
  // The format says the same, and some generators cannot read the pattern.
  if (rest.format === "date-time") delete rest.pattern;
  return {
    ...(Array.isArray(type) ? typeOrNull(type) : type !== undefined && { type }),
    ...rest,
    ...(only !== undefined && { enum: [only] }),
    ...(Array.isArray(examples) ? { example: examples[0] } : examples !== undefined && { examples }),
    ...(exclusiveMinimum !== undefined && { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(exclusiveMaximum !== undefined && { maximum: exclusiveMaximum, exclusiveMaximum: true }),
    ...(Array.isArray(anyOf) && anyOfOrNull(anyOf)),
    // 3.0 ignores what stands beside a reference.
    ...($ref !== undefined && (Object.keys(schema).length === 1 ? { $ref } : { allOf: [{ $ref }] })),
  };
};

const typeOrNull = (types: readonly unknown[]): Json => {
  const [type, ...others] = types.filter((name) => name !== "null");
  if (others.length > 0) throw new Error(`OpenAPI 3.0 has no type ${JSON.stringify(types)}: describe it with anyOf.`);
  return { type, ...(types.includes("null") && { nullable: true }) };
};

const anyOfOrNull = (parts: readonly Json[]): Json => {
  const others = parts.filter(({ type }) => type !== "null");
  const nullable = others.length < parts.length && { nullable: true };
  const [first] = others;
  return others.length === 1 && first?.$ref === undefined ? { ...first, ...nullable } : { anyOf: others, ...nullable };
};

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;
