import {
  type Answer,
  type Description,
  type Operation,
  type Route,
  referenceOf,
  routesOf,
  type Schema,
} from "./description.js";
import { exampleOf } from "./examples.js";

/** What the guides and the copy say about the service first. */
export const LEAD =
  "Create 360° panoramas from your own programs: one request creates a task, a second one collects the picture.";

/** The whole documentation in Markdown, for programs and assistants. `guides` have their values already. */
export const docsMarkdown = (description: Description, guides: readonly string[]): string => {
  const origin = originOf(description);
  const { schemas } = description.components;
  const operations = [...routesOf(description.paths), ...routesOf(description.webhooks)].map((route) =>
    operationText(route, description),
  );
  const objects = Object.entries(schemas).map(([name, schema]) => paragraphs(`### ${name}`, ...schemaText(schema)));
  return `${paragraphs(
    "# API reference",
    `${LEAD} Base URL: ${description.servers[0].url}`,
    ...guides.map((guide) => linksTo(origin, nested(guide)).trim()),
    "## Operations",
    ...operations,
    "## Objects",
    ...objects,
  )}\n`;
};

/** `/llms.txt` (https://llmstxt.org): what to read about this service. */
export const llmsText = (description: Description): string => {
  const origin = originOf(description);
  return `# Panorama

> ${LEAD}

## Docs

- [API reference](${origin}/docs.md): guides, and every operation, object and error code, in one file
- [OpenAPI 3.1](${origin}/api/v1/openapi.json): the same for generators
- [MCP](${origin}/mcp): the tools for assistants
`;
};

const originOf = ({ servers: [{ url }] }: Description): string => new URL(url).origin;

const paragraphs = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== "").join("\n\n");

/** One level below the title of the copy; in blocks of code, `#` begins a comment and stays. */
const nested = (guide: string): string =>
  guide
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, index) => (index % 2 === 0 ? part.replace(/^# /gm, "## ") : part))
    .join("");

const linksTo = (origin: string, text: string): string =>
  text.replaceAll("](/", `](${origin}/`).replaceAll("](#", `](${origin}/docs#`);

const operationText = (route: Route, { servers: [{ url }], paths }: Description): string => {
  const { method, path, operation } = route;
  const content = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => typeOf(schema));
  const isCalled = path in paths; // the service sends webhooks itself
  return paragraphs(
    `### ${operation.summary}`,
    `\`${method} ${path}\``,
    operation.description,
    parameterText(operation),
    content.length === 0 ? undefined : `Body: ${content.join(" or ")}`,
    Object.entries(operation.responses).map(answerText).join("\n"),
    isCalled ? `\`\`\`bash\n${exampleOf(route, url).code.bash}\n\`\`\`` : undefined,
  );
};

const parameterText = ({ parameters = [] }: Operation): string =>
  parameters
    .map(({ in: place, name, required, schema, description = "" }) =>
      item(name, `${place}, ${typeOf(schema)}`, required === true, description),
    )
    .join("\n");

const answerText = ([status, { description, content = {} }]: readonly [string, Answer]): string =>
  [`- ${status}: ${description}`, ...Object.values(content).map(({ schema }) => `(${typeOf(schema)})`)].join(" ");

const schemaText = (schema: Schema): readonly string[] => [
  schema.description ?? "",
  ...(schema.anyOf ?? [schema]).map((part) => fieldsText(part, "")),
];

const fieldsText = ({ properties = {}, required = [] }: Schema, indent: string): string =>
  Object.entries(properties)
    .flatMap(([name, property]) => [
      indent + item(name, typeOf(property), required.includes(name), property.description ?? ""),
      fieldsText(property, `${indent}  `),
    ])
    .filter((line) => line !== "")
    .join("\n");

const item = (name: string, type: string, isRequired: boolean, meaning: string): string =>
  `- \`${name}\` (${type}${isRequired ? ", required" : ""})${meaning === "" ? "" : `: ${meaning}`}`;

const typeOf = (schema: Schema): string => {
  const named = referenceOf(schema);
  if (named !== undefined) return named;
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" or ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`;
  return [schema.type ?? "any"].flat().join(" or ");
};
