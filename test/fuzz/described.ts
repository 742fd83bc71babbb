import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { openApiDocument } from "../../adapters/http/openapi/openapi-document.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../domain/tasks/abilities.js";
import type { WireAnswer } from "./wire.js";

export type Schema = Readonly<Record<string, unknown>>;

export type Parameter = {
  readonly name: string;
  readonly in: "query" | "header" | "path";
  readonly required?: boolean;
  readonly schema: Schema;
};

export type Operation = {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** By media type. */
  readonly body: Readonly<Record<string, Schema>>;
  readonly responses: Readonly<Record<string, Described>>;
};

type Described = {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
};

const document = JSON.parse(
  JSON.stringify(openApiDocument("https://panoramas.example", PANORAMA_POLICY, ALL_ABILITIES)),
);

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item as Record<string, Record<string, never>>).map(([method, described]) => ({
    method: method.toUpperCase(),
    path,
    parameters: described.parameters ?? [],
    body: Object.fromEntries(
      Object.entries((described.requestBody as { content?: object } | undefined)?.content ?? {}).map(
        ([type, media]) => [type, (media as { schema: Schema }).schema],
      ),
    ),
    responses: described.responses ?? {},
  })),
);

/** The schema behind a reference. */
export const resolved = (schema: Schema): Schema =>
  typeof schema.$ref === "string" ? document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] : schema;

const ajv = new Ajv2020({ strict: false, allErrors: false });
(addFormats as unknown as (to: Ajv2020) => void)(ajv);
ajv.addFormat("uri", (text) => URL.canParse(text)); // what clients parse URLs with; the format of ajv is ASCII only
ajv.addSchema(document, "openapi");

const pointer = (...parts: readonly string[]): string =>
  `openapi#/${parts.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;

const brokenRule = (at: string, value: unknown): string | undefined => {
  const validate = ajv.getSchema(at) ?? ajv.compile({ $ref: at });
  if (validate(value)) return undefined;
  const [first] = validate.errors ?? [];
  return `${first?.instancePath || "the value"} ${first?.message}`;
};

/** Why the JSON body is not one that the operation describes; `undefined` if it is. */
export const wrongBody = ({ path, method }: Operation, body: unknown): string | undefined =>
  brokenRule(
    pointer("paths", path, method.toLowerCase(), "requestBody", "content", "application/json", "schema"),
    body,
  );

/** The codes of the specification, with their statuses. 416 and 503 belong to images and health checks. */
const STATUS_OF: Readonly<Record<string, readonly number[]>> = {
  invalid_request: [400, 416],
  invalid_api_key: [401],
  insufficient_credits: [402],
  not_found: [404],
  rate_limited: [429],
  too_many_active_tasks: [429],
  upstream_error: [502],
  not_ready: [503],
};

/** Why this is not an answer of the error body; `undefined` if it is. A 500 never is one here. */
export const wrongError = ({ status, headers, body }: WireAnswer): string | undefined => {
  const { error } = (jsonOf(body) ?? {}) as { error?: { code?: unknown; message?: unknown } };
  if (headers.get("content-type") !== "application/json") return `type ${headers.get("content-type")}`;
  if (typeof error?.message !== "string" || error.message === "") return "no error.message";
  if (!STATUS_OF[String(error.code)]?.includes(status)) return `${status} with the code ${error.code}`;
  if (!headers.has("x-request-id")) return "no x-request-id";
  return undefined;
};

/** Why the answer is none that the operation describes; `undefined` if it is. */
export const wrongAnswer = (operation: Operation, answer: WireAnswer, isHead: boolean): string | undefined => {
  const { status, headers, body } = answer;
  const described = operation.responses[status];
  if (status === 500 || described === undefined) return `status ${status}`;
  const missing = Object.entries(described.headers ?? {}).find(
    ([name, { required }]) => required === true && !headers.has(name.toLowerCase()),
  );
  if (missing !== undefined) return `no header ${missing[0]}`;
  const type = headers.get("content-type")?.split(";")[0];
  const types = Object.keys(described.content ?? {});
  if (types.length === 0) return body === "" ? undefined : "a body";
  if (type === undefined || !types.includes(type)) return `type ${type}`;
  if (isHead || type !== "application/json") return undefined;
  if (status >= 300) {
    const wrong = wrongError(answer);
    if (wrong !== undefined) return wrong;
  }
  const { path, method } = operation;
  const at = pointer("paths", path, method.toLowerCase(), "responses", String(status), "content", type, "schema");
  return brokenRule(at, jsonOf(body));
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
