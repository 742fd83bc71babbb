import { type Html, html } from "../html.js";
import {
  type DescribedAnswer,
  type Description,
  type MediaTypes,
  type Parameter,
  type Route,
  referenceOf,
  routesOf,
  type Schema,
} from "./description.js";
import { exampleOf } from "./examples.js";
import { codeBlock, exampleTabs, idOf } from "./markdown.js";

/** A section of the page, with its operations or objects. */
export type Section = {
  readonly id: string;
  readonly title: string;
  readonly parts: readonly Part[];
};

/** `method` of an operation. `samples` are beside the words on wide windows. */
type Part = {
  readonly id: string;
  readonly title: string;
  readonly method?: Html;
  readonly words: Html;
  readonly samples: Html;
};

type Schemas = Description["components"]["schemas"];

/** Every operation, webhook and object of the description. */
export function referenceSections(description: Description): readonly Section[] {
  const { components, paths, servers, webhooks } = description;
  const routes = routesOf(paths);
  const example = (route: Route) =>
    exampleTabs(route.operation.summary, exampleOf(route, servers[0].url), `example-${route.operation.operationId}`);
  const body = ({ operation }: Route) => jsonExample("Body", operation.summary, operation.requestBody?.content);
  return [
    ...[...new Set(routes.map(titleOf))].map((title) => {
      const own = routes.filter((route) => titleOf(route) === title);
      return sectionOf(
        title,
        own.map((route) => operationPart(route, components.schemas, example(route))),
      );
    }),
    sectionOf(
      "Webhook requests",
      routesOf(webhooks).map((route) => operationPart(route, components.schemas, body(route))),
    ),
    sectionOf("Objects", objectParts(components.schemas, [...routes, ...routesOf(webhooks)])),
  ];
}

const sectionOf = (title: string, parts: readonly Part[]): Section => ({ id: idOf(title), title, parts });

export const renderSection = ({ id, title, parts }: Section): Html =>
  html`<section class="group" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${parts.map(
    ({ id, title, words, samples }) =>
      html`<section class="operation" id="${id}"><div class="prose"><h3><a href="#${id}">${title}</a></h3>
${words}</div><div class="samples">${samples}</div></section>`,
  )}</section>`;

/** The first segment of the path: `/panoramas/{id}` belongs to Panoramas. */
function titleOf({ path }: Route): string {
  const [, segment = ""] = path.split("/");
  return segment.charAt(0).toUpperCase() + segment.slice(1);
}

function operationPart({ method, path, operation }: Route, schemas: Schemas, sample: Html | undefined): Part {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const label = html`<span class="state method ${TONES[method]}">${method}</span>`;
  const answers = Object.entries(responses);
  return {
    id: operationId,
    title: summary,
    method: label,
    words: html`<p>${label} <code>${path}</code></p>${paragraph(description)}
${parameterList("Path", parameters, "path")}${parameterList("Query", parameters, "query")}${parameterList("Headers", parameters, "header")}
${requestBody && bodyFields(requestBody.content, schemas)}
<h4>Answers</h4><ul class="fields">${answers.map(([status, answer]) => answerItem(summary, status, answer, schemas))}</ul>`,
    samples: html`${sample}${answers.map(([status, { content }]) => jsonExample(`Answer ${status}`, summary, content))}`,
  };
}

/** The colour of a method. */
const TONES: Readonly<Record<string, string>> = { POST: "good", DELETE: "bad" };

function parameterList(title: string, all: readonly Parameter[], place: Parameter["in"]): Html | undefined {
  const parameters = all.filter((parameter) => parameter.in === place);
  if (parameters.length === 0) return undefined;
  return html`<h4>${title}</h4>${fieldList(
    parameters.map(({ name, required, schema, description = schema.description }) => [
      name,
      { ...schema, description },
      required === true && REQUIRED,
    ]),
  )}`;
}

const bodyFields = (content: MediaTypes, schemas: Schemas): readonly Html[] =>
  Object.entries(content).map(([type, { schema }]) => {
    const name = referenceOf(schema);
    const { [name ?? ""]: resolved = schema } = schemas;
    const isLink = resolved.properties === undefined && name !== undefined;
    return html`<h4>Body <span class="hint">${type}</span></h4>
${isLink ? html`<p>${objectLink(name)}</p>` : html`${paragraph(resolved.description)}${fieldsOf(resolved)}`}`;
  });

/** `of`: the element that it belongs to, for screen readers. */
function answerItem(
  of: string,
  status: string,
  { description, content = {}, headers = {} }: DescribedAnswer,
  schemas: Schemas,
): Html {
  const names = Object.values(content).flatMap(({ schema }) => referenceOf(schema) ?? []);
  const codes = names.flatMap((name) => codesOf(schemas[name]));
  const types = Object.keys(content).filter((type) => type !== "application/json");
  const fields = Object.entries(headers).map(([name, { schema }]) => [name, schema] as const);
  return html`<li><p><span class="state ${Number(status) < 400 ? "good" : "bad"}">${status}</span>
${codes.map((code) => html`<code>${code}</code> `)}${prose(description)}${types.map((type) => html` <code>${type}</code>`)}
${codes.length === 0 && names.map(objectLink)}</p>
${fields.length > 0 && html`<details><summary class="hint" aria-label="Headers of ${status}: ${of}">Headers</summary>${fieldList(fields)}</details>`}</li>`;
}

/** The codes of a schema of errors; none for other schemas. */
const codesOf = (schema: Schema | undefined): readonly string[] =>
  (schema?.properties?.error?.properties?.code?.enum ?? []).map(String);

function jsonExample(label: string, of: string, content: MediaTypes = {}): Html | undefined {
  const example = content["application/json"]?.example;
  if (example === undefined) return undefined;
  return html`<p class="hint">${label}</p>${codeBlock(JSON.stringify(example, null, 2), "json", `${label}: ${of}`)}`;
}

/** The components of answers, and one object for all errors: the one with the most fields, with the codes of all. */
function objectParts(schemas: Schemas, routes: readonly Route[]): readonly Part[] {
  const contents = routes.flatMap(({ operation: { requestBody, responses } }) =>
    [requestBody, ...Object.values(responses)].map((body) => body?.content ?? {}),
  );
  const { CreationRequest: _body, ...others } = schemas;
  const objects = Object.entries(others).filter(([, schema]) => codesOf(schema).length === 0);
  const codes = [...new Set(Object.values(schemas).flatMap(codesOf))];
  const error: Schema = JSON.parse(JSON.stringify(schemas.InvalidRequest), (name, value) =>
    name === "enum" ? codes : value,
  );
  return [...objects, ["Error", error] as const].map(([name, schema]) => {
    const content = contents.find((content) => referenceOf(content["application/json"]?.schema ?? {}) === name);
    return {
      id: name,
      title: name,
      words: html`${paragraph(schema.description)}${fieldsOf(schema)}`,
      samples: html`${jsonExample(name, "object", content)}`,
    };
  });
}

type Field = readonly [name: string, schema: Schema, required?: Html | false];

const REQUIRED = html`<span class="state busy">required</span>`;

/** Parameters, headers or properties, with those inside them. */
const fieldList = (fields: readonly Field[]): Html =>
  html`<ul class="fields">${fields.map(
    ([name, schema, required]) =>
      html`<li><p><code>${name}</code> <span class="hint">${typeOf(schema)}</span> ${required}</p>
${paragraph(schema.description)}${rulesOf(schema)}${fieldsOf(schema)}</li>`,
  )}</ul>`;

function fieldsOf({ anyOf, properties = {}, required = [] }: Schema): Html | undefined {
  if (anyOf !== undefined) {
    return html`${anyOf.map((part, index) => html`<p><strong>${index === 0 ? "Either" : "Or"}</strong></p>${fieldsOf(part)}`)}`;
  }
  const fields = Object.entries(properties);
  if (fields.length === 0) return undefined;
  return fieldList(fields.map(([name, schema]) => [name, schema, required.includes(name) && REQUIRED]));
}

function typeOf(schema: Schema): Html | string {
  const named = referenceOf(schema);
  if (named !== undefined) return objectLink(named);
  if (schema.type === "array" && schema.items !== undefined) return html`array of ${typeOf(schema.items)}`;
  if (schema.format === "binary") return "file";
  if (schema.anyOf !== undefined)
    return html`${schema.anyOf.map((part, index) => html`${index > 0 && " or "}${typeOf(part)}`)}`;
  if (schema.additionalProperties !== undefined) return html`map of ${typeOf(schema.additionalProperties)}`;
  const type = [schema.type ?? "any"].flat().join(" or ");
  return schema.format === undefined ? type : `${type} (${schema.format})`;
}

function rulesOf(schema: Schema): Html | undefined {
  const { items, additionalProperties } = schema;
  const rules = [
    schema.enum && html`One of ${listOf(schema.enum)}. `,
    schema.const !== undefined && html`Always ${value(schema.const)}. `,
    rangeOf(schema.minimum, schema.maximum),
    rangeOf(schema.minLength, schema.maxLength, " characters"),
    rangeOf(schema.minItems, schema.maxItems, " items"),
    rangeOf(undefined, schema.maxProperties, " pairs"),
    items?.maxLength !== undefined && html`Each has at most ${items.maxLength} characters. `,
    additionalProperties?.maxLength !== undefined &&
      html`Values have at most ${additionalProperties.maxLength} characters. `,
    schema.pattern === "^https://" && html`Begins with <code>https://</code>. `,
    schema.default !== undefined && html`Default: ${value(schema.default)}. `,
    schema.example !== undefined && html`Example: ${value(schema.example)}. `,
  ];
  return rules.some(Boolean) ? html`<p class="hint">${rules}</p>` : undefined;
}

function rangeOf(min = -Infinity, max = Infinity, things = ""): Html | undefined {
  // Beyond it is what zod writes for integers without a limit.
  const [hasMin, hasMax] = [min > Number.MIN_SAFE_INTEGER, max < Number.MAX_SAFE_INTEGER];
  if (hasMin && hasMax) return html`${min} to ${max}${things}. `;
  if (hasMax) return html`At most ${max}${things}. `;
  return hasMin ? html`At least ${min}${things}. ` : undefined;
}

const value = (content: unknown): Html =>
  html`<code>${typeof content === "string" ? content : JSON.stringify(content)}</code>`;

const listOf = (values: readonly unknown[]): readonly Html[] =>
  values.map((item, index) => html`${index > 0 && ", "}${value(item)}`);

const objectLink = (name: string): Html => html`<a href="#${name}">${name}</a>`;

const paragraph = (text: string | undefined): Html | undefined =>
  text === undefined ? undefined : html`<p>${prose(text)}</p>`;

/** Names of fields, headers and routes in a sentence of the description are shown as code. */
const prose = (sentence: string): readonly Html[] =>
  sentence
    .split(
      /((?:GET|POST|DELETE) \/[\w/{}]+|\b[a-z]+(?:_[a-z]+)+\b|\bPrefer: wait\b|\bwait=N\b|\bmetadata\.KEY=value\b|\bx-request-id\b)/,
    )
    .map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
