import { describe, expect, it } from "vitest";
import { openApi30 } from "../../../../adapters/http/openapi/openapi-30.js";

/** What a schema of 3.1 becomes. */
const schemaIn30 = (schema: object): unknown => {
  const document = { openapi: "3.1.1", info: { title: "a", version: "1" }, components: { schemas: { One: schema } } };
  const { components } = openApi30(document) as typeof document;
  return components.schemas.One;
};

describe("the OpenAPI 3.0 form of a description", () => {
  it.each([
    [{ type: ["string", "null"] }, { type: "string", nullable: true }],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, { type: "string", nullable: true }],
    [
      { anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] },
      { anyOf: [{ type: "string" }, { type: "integer" }], nullable: true },
    ],
    [
      { type: "string", const: "Bearer" },
      { type: "string", enum: ["Bearer"] },
    ],
    [
      { type: "string", examples: ["a", "b"] },
      { type: "string", example: "a" },
    ],
    [
      { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 9 },
      { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true },
    ],
    [
      { type: "string", format: "binary", contentEncoding: "binary" },
      { type: "string", format: "binary" },
    ],
    [
      { type: "object", propertyNames: { maxLength: 40 }, additionalProperties: { type: ["integer", "null"] } },
      { type: "object", additionalProperties: { type: "integer", nullable: true } },
    ],
    [{ $ref: "#/components/schemas/Two" }, { $ref: "#/components/schemas/Two" }],
    [
      { $ref: "#/components/schemas/Two", description: "of two" },
      { allOf: [{ $ref: "#/components/schemas/Two" }], description: "of two" },
    ],
  ])("translates %j to %j", (in31, in30) => {
    expect(schemaIn30(in31)).toEqual(in30);
  });

  it("takes no property for a keyword, and changes no data", () => {
    const schema = {
      type: "object",
      properties: { type: { const: "a" }, const: { type: "string" }, examples: { type: "array", items: {} } },
      example: { type: ["a", "null"], const: "b", examples: ["c"] },
    };
    const properties = { ...schema.properties, type: { enum: ["a"] } };
    expect(schemaIn30(schema)).toEqual({ ...schema, properties });
  });

  it("writes the licence as a link, and webhooks as x-webhooks", () => {
    const webhooks = { event: { post: { responses: {} } } };
    const license = { name: "MIT", identifier: "MIT" };
    expect(openApi30({ openapi: "3.1.1", info: { title: "a", version: "1", license }, paths: {}, webhooks })).toEqual({
      openapi: "3.0.3",
      info: { title: "a", version: "1", license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" } },
      paths: {},
      "x-webhooks": webhooks,
    });
  });

  it("refuses a type that 3.0 does not have", () => {
    expect(() => schemaIn30({ type: ["string", "integer"] })).toThrow('OpenAPI 3.0 has no type ["string","integer"]');
  });
});
