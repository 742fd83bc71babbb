import { type Html, html } from "../html.js";
import { codeBlock, exampleTabs } from "./code.js";
import {
  type Answer,
  type Content,
  type Description,
  type Operation,
  type Parameter,
  type Route,
  referenceOf,
  routesOf,
  type Schema,
} from "./description.js";
import { exampleOf } from "./examples.js";
import { idOf } from "./markdown.js";

/** A part of the page, and the links to it. `method` of an operation. */
export type Section = {
  readonly id: string;
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly content: Html;
};
export type Entry = { readonly id: string; readonly title: string; readonly method?: string };

/** Every operation, webhook and object of the description. */
export const referenceSections = (description: Description): readonly Section[] => {
  const { schemas } = description.components;
  const [{ url: baseUrl }] = description.servers;
  const groups = new Map<string, Route[]>();
  for (const route of routesOf(description.paths)) {
    const title = titleOf(route.path);
    groups.set(title, [...(groups.get(title) ?? []), route]);
  }
  const operations = [...groups].map(([title, routes]) => ({
    id: idOf(title),
    title,
    entries: routes.map(entryOf),
    content: html`${routes.map((route) => operationSection(route, schemas, exampleTabs(exampleOf(route, baseUrl), `example-${route.operation.operationId}`)))}`,
  }));
  const webhooks = routesOf(description.webhooks);
  return [
    ...operations,
    {
      id: "webhook-requests",
      title: "Webhook requests",
      entries: webhooks.map(entryOf),
      content: html`${webhooks.map((route) => operationSection(route, schemas, undefined))}`,
    },
    objectsSection(description),
  ];
};

/** The first segment of the path: `/panoramas/{id}` belongs to Panoramas. */
const titleOf = (path: string): string => {
  const [, segment = ""] = path.split("/");
  return segment.charAt(0).toUpperCase() + segment.slice(1);
};

const entryOf = ({ method, operation }: Route): Entry => ({
  id: operation.operationId,
  title: operation.summary,
  method,
});

type Schemas = Description["components"]["schemas"];

const operationSection = ({ method, path, operation }: Route, schemas: Schemas, example: Html | undefined): Html => {
  const { operationId, summary, description, requestBody, responses } = operation;
  const answers = Object.entries(responses);
  const isError = ([status]: readonly [string, Answer]) => Number(status) >= 400;
  return html`<section class="operation" id="${operationId}"><div class="words">
<h3><a href="#${operationId}">${summary}</a></h3>
<p class="route"><span class="method ${method.toLowerCase()}">${method}</span> <code>${breakable(path)}</code></p>
${description !== undefined && html`<p>${prose(description)}</p>`}
${(["path", "query", "header"] as const).map((place) => parameterList(operation, place, schemas))}
${requestBody !== undefined && bodyFields("Body", requestBody.content, schemas)}
<h4>Answers</h4>
<ul class="answers">${answers.filter((answer) => !isError(answer)).map((answer) => answerItem(summary, answer))}</ul>
${
  answers.some(isError) &&
  html`<h4>Errors</h4><ul class="answers">${answers.filter(isError).map((answer) => answerItem(summary, answer, errorCodes(answer[1], schemas)))}</ul>`
}</div>
<div class="samples">${example}${requestBody !== undefined && example === undefined && jsonExample("Body", summary, requestBody.content)}${answers.map(([status, { content }]) => jsonExample(`Answer ${status}`, summary, content ?? {}))}</div></section>`;
};

const PLACES = { path: "Path", query: "Query", header: "Headers" };

const parameterList = (operation: Operation, place: Parameter["in"], schemas: Schemas): Html | undefined => {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === place);
  if (parameters.length === 0) return undefined;
  return html`<h4>${PLACES[place]}</h4><ul class="fields">${parameters.map(({ name, required, schema, description }) =>
    field(name, { ...schema, ...(description !== undefined && { description }) }, required === true, schemas),
  )}</ul>`;
};

const bodyFields = (title: string, content: Content, schemas: Schemas): readonly Html[] =>
  Object.entries(content).map(([type, { schema }]) => {
    const named = referenceOf(schema);
    const resolved = named === undefined ? schema : schemas[named];
    return html`<h4>${title} <span class="type">${type}</span></h4>${
      resolved?.properties === undefined && named !== undefined
        ? html`<p>${objectLink(named)}</p>`
        : html`${resolved?.description !== undefined && html`<p>${prose(resolved.description)}</p>`}${fieldsOf(resolved ?? {}, schemas)}`
    }`;
  });

const answerItem = (
  operation: string,
  [status, { description, content = {}, headers = {} }]: readonly [string, Answer],
  codes: readonly string[] = [],
): Html => {
  const named = Object.values(content).map(({ schema }) => referenceOf(schema));
  const types = Object.keys(content).filter((type) => type !== "application/json");
  return html`<li><p><span class="status s${status.charAt(0)}">${status}</span> ${codes.map((code) => html`<code>${code}</code> `)}${prose(description)}${types.map((type) => html` <code>${type}</code>`)}${codes.length === 0 && named.map((name) => name !== undefined && html` ${objectLink(name)}`)}</p>
${
  Object.keys(headers).length > 0 &&
  html`<details><summary aria-label="Headers of ${status}: ${operation}">Headers</summary><ul class="fields">${Object.entries(
    headers,
  ).map(
    ([name, { schema }]) =>
      html`<li><code>${name}</code>${schema.description !== undefined && html`<p>${prose(schema.description)}</p>`}</li>`,
  )}</ul></details>`
}</li>`;
};

const errorCodes = ({ content = {} }: Answer, schemas: Schemas): readonly string[] =>
  Object.values(content).flatMap(({ schema }) => codesOf(schemas[referenceOf(schema) ?? ""]));

/** The codes of a schema of errors; none for other schemas. */
const codesOf = (schema: Schema | undefined): readonly string[] =>
  (schema?.properties?.error?.properties?.code?.enum ?? []).map(String);

/** `of`: what the example belongs to, for screen readers. */
const jsonExample = (label: string, of: string, content: Content): Html | undefined => {
  const example = content["application/json"]?.example;
  if (example === undefined) return undefined;
  return html`<div class="sample"><p class="caption">${label}</p>${codeBlock(JSON.stringify(example, null, 2), "json", `${label}: ${of}`)}</div>`;
};

/** The components of answers, and one object for all errors. */
const objectsSection = ({ components: { schemas }, paths, webhooks }: Description): Section => {
  const bodies = new Set(
    [...routesOf(paths)].flatMap(({ operation }) =>
      Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => referenceOf(schema)),
    ),
  );
  const isError = (schema: Schema) => codesOf(schema).length > 0;
  const objects = Object.entries(schemas).filter(([name, schema]) => !bodies.has(name) && !isError(schema));
  const errors = Object.values(schemas).filter(isError);
  const error = errors.find(({ properties }) => properties?.error?.properties?.param !== undefined) ?? errors[0] ?? {};
  const all: readonly (readonly [string, Schema])[] = [
    ...objects,
    ["Error", withCodes(error, errors.flatMap(codesOf))],
  ];
  const examples = examplesByName(paths, webhooks);
  return {
    id: "objects",
    title: "Objects",
    entries: all.map(([name]) => ({ id: name, title: name })),
    content: html`${all.map(
      ([
        name,
        schema,
      ]) => html`<section class="operation" id="${name}"><div class="words"><h3><a href="#${name}">${name}</a></h3>
${schema.description !== undefined && html`<p>${prose(schema.description)}</p>`}${fieldsOf(schema, schemas)}</div>
<div class="samples">${examples.has(name) && jsonExample(name, "object", { "application/json": { schema, example: examples.get(name) } })}</div></section>`,
    )}`,
  };
};

const withCodes = (schema: Schema, codes: readonly string[]): Schema => {
  const { error } = schema.properties ?? {};
  if (error?.properties?.code === undefined) return schema;
  const code = { ...error.properties.code, enum: [...new Set(codes)] };
  return { ...schema, properties: { error: { ...error, properties: { ...error.properties, code } } } };
};

const examplesByName = (...items: readonly Description["paths"][]): ReadonlyMap<string, unknown> =>
  new Map(
    items.flatMap(routesOf).flatMap(({ operation }) =>
      [operation.requestBody, ...Object.values(operation.responses)]
        .flatMap((body) => Object.values(body?.content ?? {}))
        .flatMap(({ schema, example }) => {
          const name = referenceOf(schema);
          return name === undefined || example === undefined ? [] : [[name, example] as const];
        }),
    ),
  );

const fieldsOf = (schema: Schema, schemas: Schemas): Html | undefined => {
  const { anyOf, properties, required = [] } = schema;
  if (anyOf !== undefined) {
    return html`${anyOf.map((part, index) => html`<p class="variant">${index === 0 ? "Either" : "Or"}</p>${fieldsOf(part, schemas)}`)}`;
  }
  if (properties === undefined) return undefined;
  return html`<ul class="fields">${Object.entries(properties).map(([name, property]) =>
    field(name, property, required.includes(name), schemas),
  )}</ul>`;
};

/** One parameter or property, with those inside it. A component is a link to its object. */
const field = (name: string, schema: Schema, isRequired: boolean, schemas: Schemas): Html => {
  const rules = rulesOf(schema);
  const inner = fieldsOf(schema, schemas);
  return html`<li><p class="name"><code>${breakable(name)}</code> <span class="type">${typeOf(schema)}</span>${isRequired && html` <span class="required">required</span>`}</p>
${schema.description !== undefined && html`<p>${prose(schema.description)}</p>`}${rules.length > 0 && html`<p class="rules">${rules}</p>`}${inner}</li>`;
};

const typeOf = (schema: Schema): Html | string => {
  const named = referenceOf(schema);
  if (named !== undefined) return objectLink(named);
  if (schema.type === "array" && schema.items !== undefined) return html`array of ${typeOf(schema.items)}`;
  if (schema.format === "binary") return "file";
  if (schema.anyOf !== undefined)
    return html`${schema.anyOf.map((part, index) => html`${index > 0 && " or "}${typeOf(part)}`)}`;
  if (schema.additionalProperties !== undefined) return html`map of ${typeOf(schema.additionalProperties)}`;
  const type = [schema.type ?? "any"].flat().join(" or ");
  return schema.format === undefined ? type : `${type} (${schema.format})`;
};

/** What zod writes for integers without a limit. */
const isLimit = (value: number | undefined): value is number =>
  value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;

const rangeOf = (min: number | undefined, max: number | undefined, unit: string): Html | undefined => {
  const things = unit === "" ? "" : ` ${unit}`;
  if (isLimit(min) && isLimit(max)) return html`${min} to ${max}${things}. `;
  if (isLimit(max)) return html`At most ${max}${things}. `;
  return isLimit(min) ? html`At least ${min}${things}. ` : undefined;
};

const rulesOf = (schema: Schema): readonly Html[] => {
  const { items, additionalProperties } = schema;
  return [
    schema.enum !== undefined && html`One of ${listOf(schema.enum)}. `,
    schema.const !== undefined && html`Always ${value(schema.const)}. `,
    rangeOf(schema.minimum, schema.maximum, ""),
    rangeOf(schema.minLength, schema.maxLength, "characters"),
    rangeOf(schema.minItems, schema.maxItems, "items"),
    rangeOf(undefined, schema.maxProperties, "pairs"),
    items?.maxLength !== undefined && html`Each has at most ${items.maxLength} characters. `,
    additionalProperties?.maxLength !== undefined &&
      html`Values have at most ${additionalProperties.maxLength} characters. `,
    (schema.pattern ?? items?.pattern) === "^https://" && html`Begins with <code>https://</code>. `,
    schema.default !== undefined && html`Default: ${value(schema.default)}. `,
    schema.example !== undefined && html`Example: ${value(schema.example)}. `,
  ].filter((rule) => rule !== undefined && rule !== false);
};

const value = (content: unknown): Html =>
  html`<code>${typeof content === "string" ? content : JSON.stringify(content)}</code>`;

const listOf = (values: readonly unknown[]): readonly Html[] =>
  values.map((item, index) => html`${index > 0 && ", "}${value(item)}`);

const objectLink = (name: string): Html => html`<a href="#${name}">${name}</a>`;

/** Names of fields, headers and routes in a sentence of the description are shown as code. */
const prose = (sentence: string): readonly Html[] =>
  sentence
    .split(
      /((?:GET|POST|DELETE) \/[\w/{}]+|\b[a-z]+(?:_[a-z]+)+\b|\bPrefer: wait\b|\bwait=N\b|\bmetadata\.KEY=value\b|\bx-request-id\b)/,
    )
    .map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));

/** Lets long names break after a slash or an underscore. */
const breakable = (name: string): readonly Html[] =>
  name.split(/(?<=[/_])/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`);
