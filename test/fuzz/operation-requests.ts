import fc from "fast-check";
import { type Operation, operations } from "./described.js";
import { multipartBody } from "./multipart-bodies.js";
import { oddText } from "./odd-values.js";
import { bodyValues, parameterTexts } from "./schema-values.js";
import type { WireRequest } from "./wire.js";

/** What a request needs from the service that it is sent to. */
export type Target = {
  /** The n-th key; the same for the same number. */
  keyOf(n: number): string;
  /** A task of the account of `keyOf(n)`, if it has one. */
  taskOf(n: number): string | undefined;
};

export type OperationRequest = {
  readonly operation: Operation;
  readonly method: string;
  /** The decoded JSON of the body; `undefined` if it is not JSON. */
  readonly sentJson: unknown;
  toWire(target: Target, n: number): WireRequest;
};

/** The HTTP server has limits of its own on the length of a head, which are no part of the description. */
const CHARACTERS_MAX = 3_000;

/** Header values may have any byte but control characters: with one, the request is malformed. */
const headerText = (text: string): string =>
  Buffer.from(text.slice(0, CHARACTERS_MAX))
    .toString("latin1")
    .replace(/[^ -~\u0080-\u00ff]/g, "?");

/** Percent-encodes what would end the request target. The rest is sent as it is. */
const rawInTarget = (text: string): string =>
  Buffer.from(text)
    .toString("latin1")
    .replace(/[^!-~]|[#?&]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);

const inTarget = (text: string): fc.Arbitrary<string> => {
  const short = text.slice(0, CHARACTERS_MAX);
  return fc.constantFrom(rawInTarget(short), encodeURIComponent(short.toWellFormed()));
};

const authorization: fc.Arbitrary<(key: string) => string[]> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.constantFrom(
      (key: string) => [`authorization: Bearer ${key}`],
      (key: string) => [`x-api-key: ${key}`],
      (key: string) => [`authorization: bearer  ${key} `, `x-api-key: ${key}`],
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      () => [],
      () => ["authorization: Bearer"],
      () => ["authorization: Basic eDp5"],
      () => ["x-api-key: sk-"],
      (key: string) => [`authorization: Bearer ${key}`, "x-api-key: sk-another"],
    ),
  },
  { weight: 1, arbitrary: oddText.map((text) => () => [`authorization: Bearer ${headerText(text)}`]) },
);

type Body = { readonly headers: readonly string[]; readonly bytes: Buffer; readonly json?: unknown };

const NO_BODY: Body = { headers: [], bytes: Buffer.alloc(0) };

/** JSON in ways in which clients get it wrong. */
const damaged = (text: string): fc.Arbitrary<Buffer> => {
  const bytes = Buffer.from(text);
  return fc.oneof(
    fc.nat({ max: bytes.length }).map((end) => bytes.subarray(0, end)),
    fc
      .tuple(fc.nat({ max: bytes.length }), fc.uint8Array({ minLength: 1, maxLength: 4 }))
      .map(([at, bad]) => Buffer.concat([bytes.subarray(0, at), bad, bytes.subarray(at)])),
    fc.constantFrom(
      Buffer.concat([Buffer.from("\ufeff"), bytes]),
      Buffer.from(text, "utf16le"),
      Buffer.concat([bytes, bytes]),
      Buffer.from("[".repeat(100_000)),
      Buffer.from(`{"resolution":"1k","prompt":"abc","resolution":"9k"}`),
      Buffer.from(`{"resolution":"1k","prompt":"abc","seed":1e999}`),
      Buffer.from(`{"resolution":"1k","prompt":"\\ud800abc"}`),
      Buffer.from(`{"resolution":"1k","prompt":"${"x".repeat(300_000)}"}`),
    ),
  );
};

const jsonOf = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
};

const bodyOf = ({ body }: Operation): fc.Arbitrary<Body> => {
  const [type, schema] = Object.entries(body)[0] ?? [];
  if (type === "multipart/form-data") return multipartBody;
  if (schema === undefined) return fc.oneof({ weight: 9, arbitrary: fc.constant(NO_BODY) }, jsonBody(oddText));
  return jsonBody(bodyValues(schema).map((value) => JSON.stringify(value) ?? ""));
};

const jsonBody = (texts: fc.Arbitrary<string>): fc.Arbitrary<Body> =>
  fc
    .tuple(
      texts.chain((text) =>
        fc.oneof({ weight: 9, arbitrary: fc.constant(Buffer.from(text)) }, { weight: 1, arbitrary: damaged(text) }),
      ),
      fc.constantFrom("application/json", "application/json", "text/plain", "application/xml; charset=x"),
    )
    .map(([bytes, type]) => ({ headers: [`content-type: ${type}`], bytes, json: jsonOf(bytes) }));

/** Requests of one operation, in correct HTTP. */
const requestOf = (operation: Operation): fc.Arbitrary<OperationRequest> => {
  const { parameters } = operation;
  const others = parameters.filter((parameter) => parameter.in !== "path");
  const values = fc.tuple(
    ...others.map(({ schema, in: place, name }) =>
      fc.option(
        parameterTexts(schema).chain((text) =>
          place === "header"
            ? fc.constantFrom(`${name}: ${headerText(text)}`, `${name}: wait=1`)
            : inTarget(text).map((value) => `${name}=${value}`),
        ),
        { nil: undefined, freq: 2 },
      ),
    ),
  );
  const id = fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, oddText.chain(inTarget));
  const more = fc.option(fc.tuple(oddText, oddText), { freq: 5 });
  const isGet = operation.method === "GET";
  return fc
    .tuple(authorization, values, id, more, bodyOf(operation), fc.boolean(), fc.nat({ max: 9 }))
    .map(([auth, sent, oddId, extra, body, isMetadata, one]) => {
      const method = isGet && one === 0 ? "HEAD" : operation.method;
      const parts = others.flatMap((parameter, n) => (sent[n] === undefined ? [] : [{ parameter, text: sent[n] }]));
      const query = parts.flatMap(({ parameter, text }) => (parameter.in === "query" ? [text] : []));
      if (extra !== null) {
        const [name, value] = extra.map((text) => rawInTarget(text.slice(0, CHARACTERS_MAX)));
        query.push(`${isMetadata ? "metadata." : ""}${name}=${value}`);
      }
      const headers = parts.flatMap(({ parameter, text }) => (parameter.in === "header" ? [text] : []));
      return {
        operation,
        method,
        sentJson: body.json,
        toWire: (target: Target, n: number): WireRequest => {
          const path = operation.path.replace("{id}", (oddId || undefined) ?? target.taskOf(n) ?? "unknown");
          const lines = [
            `${method} /api/v1${path}${query.length > 0 ? `?${query.join("&")}` : ""} HTTP/1.1`,
            "host: localhost",
            ...auth(target.keyOf(n)),
            ...headers,
            ...body.headers,
            ...(body.bytes.length > 0 || !isGet ? [`content-length: ${body.bytes.length}`] : []),
          ];
          const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
          return { parts: [Buffer.concat([head, body.bytes])], answers: 1, methods: [method] };
        },
      };
    });
};

/** Creations are more frequent, so that there are tasks to read. */
export const operationRequests: fc.Arbitrary<OperationRequest> = fc.oneof(
  ...operations.map((operation) => ({
    weight: operation.method === "POST" && operation.path === "/panoramas" ? 4 : 1,
    arbitrary: requestOf(operation),
  })),
);
