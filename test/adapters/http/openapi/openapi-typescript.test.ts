import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import { expect, it } from "vitest";
import { openApi30 } from "../../../../adapters/http/openapi/openapi-30.js";
import { openApiDocument } from "../../../../adapters/http/openapi/openapi-document.js";
import { PANORAMA_POLICY } from "../../../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../../../domain/tasks/abilities.js";

const description = openApiDocument("https://panoramas.example", PANORAMA_POLICY, ALL_ABILITIES, { unusedHours: 24 });

/** The members of an interface that the types require, by the compiler. */
const requiredOf = (types: string, path: readonly string[]): readonly string[] => {
  const source = ts.createSourceFile("types.ts", types, ts.ScriptTarget.Latest, true);
  const components = source.statements.find(
    (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === "components",
  ) as ts.InterfaceDeclaration;
  let members: readonly ts.TypeElement[] = [...components.members];
  for (const name of path) {
    const member = members.find((found) => found.name?.getText() === name) as ts.PropertySignature;
    members = [...(member.type as ts.TypeLiteralNode).members];
  }
  return members.filter(({ questionToken }) => questionToken === undefined).map(({ name }) => name?.getText() ?? "");
};

it.each([
  ["3.1", description],
  ["3.0", openApi30(description)],
])("the types of openapi-typescript require no optional member of a creation: OpenAPI %s", async (_, document) => {
  const types = astToString(await openapiTS(JSON.stringify(document)));
  expect(requiredOf(types, ["schemas", "CreationRequest"])).toEqual(["resolution"]);
});
