import * as z from "zod";
import { environmentSchema } from "./environment.js";
import { settingsSchema } from "./settings/settings-schema.js";

/** The members of a JSON schema that are used here. */
type Property = {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Property>>;
  readonly items?: Property;
  readonly anyOf?: readonly Property[];
};

const BEGINNING = `# Configuration

Generated from \`environment.ts\` and \`settings/settings-schema.ts\`. After a change, run
\`npx vitest run test/bootstrap/reference-documents.test.ts -u\`.

## Environment variables

The service reads them when it starts. If a value is invalid, it does not start, and prints one line that names the
variable. An empty variable counts as unset. \`panorama doctor\` checks all of them. \`panorama generate\` and
\`panorama mcp\` read only the variables in their help (\`panorama help generate\`).

| variable | type | default | meaning |
|---|---|---|---|
`;

const SETTINGS = `## The settings file

\`PANORAMA_SETTINGS\` names a JSON file, read once at startup. Omitted settings keep their defaults. If a setting is
invalid, the service does not start, and prints one line with file, setting, value and allowed values.
\`panorama settings show\` prints the settings in effect. \`panorama settings show --schema > panorama-settings.schema.json\`
writes the schema, which editors use for completion and checks.

| setting | type | default | meaning |
|---|---|---|---|
`;

/** The text of CONFIGURATION.md. */
export const configurationDocument = (): string => {
  const { examples = [] } = settingsSchema.meta() ?? {};
  const example = JSON.stringify((examples as readonly unknown[])[0], undefined, 2);
  const file = z.toJSONSchema(settingsSchema) as Property;
  const settings = settingRows("", file).join("");
  return `${BEGINNING}${variableRows().join("")}\n${SETTINGS}${settings}\nFor example:\n\n\`\`\`json\n${example}\n\`\`\`\n`;
};

const variableRows = (): readonly string[] => {
  const { properties } = z.toJSONSchema(environmentSchema, { io: "input", unrepresentable: "any" });
  return Object.entries(environmentSchema.shape).map(([name, schema]) => {
    // A default of the schema is shown as code. A default in `meta` is already text.
    const constant = "defaultValue" in schema.def ? code(String(schema.def.defaultValue)) : "unset";
    return rowOf(name, properties?.[name] as Property, schema.meta()?.default ?? constant);
  });
};

/** The row of a setting. For an object: its own row if it has a description, then the rows of its members. */
const settingRows = (name: string, property: Property): readonly string[] => {
  const { properties, items } = property;
  if (items !== undefined) return settingRows(`${name}[]`, items);
  if (properties === undefined) {
    return [rowOf(name, property, property.default === undefined ? "none" : code(JSON.stringify(property.default)))];
  }
  const inner = Object.entries(properties).flatMap(([key, one]) =>
    settingRows(name === "" ? key : `${name}.${key}`, one),
  );
  return property.description === undefined || name === "" ? inner : [rowOf(name, property, ""), ...inner];
};

const rowOf = (name: string, property: Property, defaultText: unknown): string => {
  const cells = [code(name), typeOf(property), defaultText, property.description ?? ""];
  return `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |\n`;
};

const code = (text: string): string => `\`${text}\``;

const typeOf = (property: Property): string => {
  const { type, format, enum: allowed, minimum, maximum = Number.MAX_SAFE_INTEGER, maxLength, anyOf } = property;
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" or ");
  if (allowed !== undefined) return allowed.map(code).join(", ");
  if (type === "boolean") return "`true` or `false`";
  if (type === "object") return "object";
  if (type === "null") return "`null`";
  if (type === "integer" || type === "number") {
    const range = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`;
    return `${type} ${range}`;
  }
  if (format === "uri") return "URL";
  if (format === "email") return "e-mail address";
  return maxLength === undefined ? "text" : `text of at most ${maxLength} characters`;
};
