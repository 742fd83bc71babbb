import fc from "fast-check";
import { multipartBody } from "./multipart-bodies.js";
import type { Target } from "./operation-requests.js";
import type { WireRequest } from "./wire.js";

/** A request before it is written: every part of it can be wrong. */
type Draft = {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** The end of each line. */
  readonly eol: string;
};

const CREATION = Buffer.from('{"resolution":"1k","prompt":"a quiet lake"}');

const draft = (method: string, target: string, body = Buffer.alloc(0), ...headers: readonly string[]): Draft => ({
  method,
  target,
  version: "HTTP/1.1",
  headers: [
    "host: localhost",
    "x-api-key: KEY",
    ...headers,
    ...(method === "GET" ? [] : [`content-length: ${body.length}`]),
  ],
  body,
  eol: "\r\n",
});

const correct: fc.Arbitrary<Draft> = fc.oneof(
  fc.constantFrom(
    draft("GET", "/api/v1/credits"),
    draft("GET", "/api/v1/panoramas?limit=2"),
    draft("GET", "/api/v1/panoramas/TASK"),
    draft("POST", "/api/v1/panoramas", CREATION, "content-type: application/json"),
    draft("POST", "/api/v1/panoramas", CREATION, "idempotency-key: one"),
    draft("DELETE", "/api/v1/panoramas/TASK"),
    draft("POST", "/api/v1/panoramas/TASK/cancel"),
    draft("POST", "/hooks/replicate?task=TASK&proof=00", Buffer.from("{}")),
    draft("POST", "/payments/stripe", Buffer.from("{}"), "stripe-signature: t=1,v1=00"),
    draft("GET", "/assets/panoramas/unknown.jpg", Buffer.alloc(0), "range: bytes=0-1"),
    draft("GET", "/p/unknown"),
    draft("GET", "/gallery?before=x"),
    draft("GET", "/gallery?q=lake&sort=oldest&after=x"),
    draft("GET", "/login?next=%2Fworks", Buffer.alloc(0), "cookie: session=x; =; ;;"),
    draft("POST", "/login", Buffer.from("email=a%40b.example&password=x"), "origin: https://panoramas.example"),
    draft("POST", "/signup", Buffer.from("email=%00&password=%ff&&=="), "origin: https://panoramas.example"),
    draft("POST", "/works", Buffer.from("x"), "content-type: multipart/form-data; boundary=x"),
    draft("GET", "/healthz"),
    draft("GET", "/api/v1/openapi.json"),
  ),
  multipartBody.map(({ headers, bytes }) => draft("POST", "/api/v1/images", bytes, ...headers)),
);

const withHeader =
  (...lines: readonly string[]) =>
  (request: Draft): Draft => ({
    ...request,
    headers: [...request.headers, ...lines],
  });
const withoutHeader =
  (name: string) =>
  (request: Draft): Draft => ({
    ...request,
    headers: request.headers.filter((line) => !line.startsWith(`${name}:`)),
  });
/** The body as it is, announced by these lines instead of its length. */
const framedBy =
  (...lines: readonly string[]) =>
  (request: Draft): Draft =>
    withHeader(...lines)(withoutHeader("content-length")(request));
const chunked =
  (encode: (body: Buffer) => readonly (Buffer | string)[], ...lines: readonly string[]) =>
  (request: Draft) => ({
    ...framedBy("transfer-encoding: chunked", ...lines)(request),
    body: Buffer.concat(encode(request.body).map((part) => Buffer.from(part as string, "latin1"))),
  });
const hex = (body: Buffer): string => body.length.toString(16);

type Mutation = (request: Draft) => Draft;

const requestLine: fc.Arbitrary<Mutation> = fc.oneof(
  fc
    .constantFrom(
      "",
      "get",
      "G ET",
      "OPTIONS",
      "TRACE",
      "CONNECT",
      "PUT",
      "PATCH",
      "HEAD",
      "GET\t",
      "\x16\x03",
      "A".repeat(5_000),
    )
    .map((method) => (request: Draft) => ({ ...request, method })),
  fc
    .constantFrom<(path: string) => string>(
      (path) => `http://localhost${path}`,
      (path) => `https://user:password@other.example:1${path}`,
      () => "*",
      () => "",
      () => "localhost:80",
      (path) => path.slice(1),
      (path) => `/${path}`,
      (path) => `${path}/`,
      (path) => path.replaceAll("/", "%2F"),
      (path) => path.replaceAll("a", "%61"),
      (path) => path.toUpperCase(),
      (path) => `/x/..${path}`,
      (path) => `/%2e%2e${path}`,
      (path) => `${path}%00`,
      (path) => `${path}%`,
      (path) => `${path}%zz%ff%c0%80`,
      (path) => `${path}\0`,
      (path) => `${path}\xff\xfe`,
      (path) => `${path}#fragment`,
      (path) => `${path}?a=b?c=d&&=&limit=1&limit=%`,
      (path) => `${path}?${"a=1&".repeat(3_000)}`,
      (path) => `${path}/${"b".repeat(20_000)}`,
      (path) => ` ${path} `,
      (path) => path.replace("TASK", "constructor"),
      (path) => path.replace("TASK", "%2e%2e%2fcredits"),
      (path) => path.replace("/api/v1", "/api/v2"),
    )
    .map((change) => (request: Draft) => ({ ...request, target: change(request.target) })),
  fc
    .constantFrom("HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "http/1.1", "HTTP/1.1 x", "", "HTTP/1.10", "ICAP/1.0")
    .map((version) => (request: Draft) => ({ ...request, version })),
  fc.constantFrom("\n", "\r", "\r\r\n", "\r\n ").map((eol) => (request: Draft) => ({ ...request, eol })),
);

const headerLines: fc.Arbitrary<Mutation> = fc.constantFrom<Mutation>(
  withHeader("x: 1", " folded"),
  withHeader("\tfolded: 1"),
  withHeader("x : 1"),
  withHeader("no colon"),
  withHeader(": no name"),
  withHeader("x_y: 1"),
  withHeader("x: \0"),
  withHeader("x: \x01\x7f"),
  withHeader("x: \xe9\xff"),
  withHeader("x:", "x:", "x:"),
  withHeader(`x: ${"v".repeat(20_000)}`),
  withHeader(`x: ${"v".repeat(100_000)}`),
  withHeader(`${"n".repeat(20_000)}: 1`),
  withHeader(...Array.from({ length: 90 }, (_, n) => `x-${n}: 1`)),
  withHeader(...Array.from({ length: 500 }, (_, n) => `x-${n}: 1`)),
  withHeader("x-api-key: sk-other"),
  withHeader("authorization: Bearer KEY", "authorization: Bearer sk-other"),
  withHeader("host: other.example"),
  withoutHeader("host"),
  withoutHeader("x-api-key"),
  withHeader("x-request-id: ../../etc\xff"),
  withHeader(`x-request-id: ${"i".repeat(129)}`),
  withHeader("x-forwarded-for: 1.2.3.4, , unknown, [::1]:80, \xff"),
  withHeader("content-type: multipart/form-data; boundary=y"),
  withHeader("prefer: wait=0, wait=9, , ;;=", "last-event-id: x"),
  withHeader("idempotency-key: \xe9"),
  withHeader("if-none-match: *", "if-range: x", "range: bytes=-", "range: bytes=9-1,0-0"),
  withHeader("expect: 100-continue"),
  withHeader("expect: 200-maybe"),
  withHeader(
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==",
    "sec-websocket-version: 13",
  ),
  withHeader("connection: upgrade, http2-settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__"),
  withHeader("connection: close"),
  withHeader("content-encoding: gzip"),
  withHeader(
    "cookie: __Host-session=%; session=\xff",
    "accept-encoding: \xff",
    "accept-language: x".padEnd(3_000, "-"),
  ),
);

const framing: fc.Arbitrary<Mutation> = fc.constantFrom<Mutation>(
  framedBy("content-length: 0"),
  framedBy("content-length: 1"),
  framedBy("content-length: 100000"),
  framedBy("content-length: 99999999999"),
  framedBy("content-length: -1"),
  framedBy("content-length: +5"),
  framedBy("content-length: 0x10"),
  framedBy("content-length: 5, 5"),
  framedBy("content-length:"),
  framedBy("content-length: 1", "content-length: 2"),
  framedBy("content-length: 2", "transfer-encoding: chunked"),
  framedBy("transfer-encoding: gzip"),
  framedBy("transfer-encoding: identity"),
  framedBy("transfer-encoding: chunked, chunked"),
  framedBy("transfer-encoding: xchunked"),
  framedBy("transfer-encoding: chunked"),
  framedBy(),
  chunked((body) => [`${hex(body)}\r\n`, body, "\r\n0\r\n\r\n"]),
  chunked((body) => [`${hex(body)};a=b;c\r\n`, body, "\r\n0\r\n\r\n"]),
  chunked((body) => [`${hex(body)}\r\n`, body, "\r\n0\r\nx-trailer: 1\r\nhost: other\r\n\r\n"], "trailer: x-trailer"),
  chunked((body) => [`0${hex(body)}\r\n`, body, "\r\n000\r\n\r\n"]),
  chunked((body) => [`${hex(body)}\r\n`, body, "\r\n"]),
  chunked((body) => [`${hex(body)}\r\n`, body, "0\r\n\r\n"]),
  chunked((body) => [`${hex(body)}\n`, body, "\n0\n\n"]),
  chunked((body) => [`-${hex(body)}\r\n`, body, "\r\n0\r\n\r\n"]),
  chunked((body) => ["zz\r\n", body, "\r\n0\r\n\r\n"]),
  chunked((body) => ["ffffffffffffffff\r\n", body, "\r\n0\r\n\r\n"]),
  chunked((body) => ["fffffffffffffffffffffffff\r\n", body, "\r\n0\r\n\r\n"]),
  chunked((body) => ["7fffffff\r\n", body, "\r\n0\r\n\r\n"]),
  chunked(() => ["0\r\n\r\n"]),
  chunked((body) => [...[...body].flatMap((byte) => ["1\r\n", Buffer.from([byte]), "\r\n"]), "0\r\n\r\n"]),
  chunked((body) => [`${" ".repeat(10)}${hex(body)}\r\n`, body, "\r\n0\r\n\r\n"]),
);

const mutation = fc.oneof(requestLine, headerLines, headerLines, framing);

/** How the bytes are sent: at once, in pieces, several requests at a time, or with an early end. */
type Sending =
  | { readonly kind: "at once" | "twice" | "five times" }
  | { readonly kind: "in pieces" | "cut"; readonly at: readonly number[] }
  | { readonly kind: "flipped"; readonly at: number; readonly byte: number };

const permille = fc.nat({ max: 1_000 });
const sending: fc.Arbitrary<Sending> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: "at once" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "twice" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "five times" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("in pieces" as const),
      at: fc.array(permille, { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("cut" as const), at: fc.array(permille, { minLength: 1, maxLength: 2 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("flipped" as const), at: permille, byte: fc.nat({ max: 255 }) }),
  },
);

export type MalformedRequest = { toWire(target: Target, n: number): WireRequest };

export const malformedRequests: fc.Arbitrary<MalformedRequest> = fc
  .tuple(correct, fc.array(mutation, { minLength: 0, maxLength: 3 }), sending)
  .map(([start, mutations, sent]) => {
    const request = mutations.reduce((changed, mutate) => mutate(changed), start);
    const { method, target, version, headers, body, eol } = request;
    return {
      toWire: (service: Target, n: number): WireRequest => {
        const head = [`${method} ${target}${version === "" ? "" : ` ${version}`}`, ...headers, "", ""].join(eol);
        const named = head.replaceAll("KEY", service.keyOf(n)).replaceAll("TASK", service.taskOf(n) ?? "unknown");
        const bytes = Buffer.concat([Buffer.from(named, "latin1"), body]);
        return { ...partsOf(bytes, sent), answers: "any", methods: [method] };
      },
    };
  });

const partsOf = (bytes: Buffer, sent: Sending): Pick<WireRequest, "parts" | "pauseMilliseconds" | "cut"> => {
  const index = (at: number): number => Math.floor((bytes.length * at) / 1_001);
  switch (sent.kind) {
    case "at once":
      return { parts: [bytes] };
    case "twice":
      return { parts: [Buffer.concat([bytes, bytes])] };
    case "five times":
      return { parts: [Buffer.concat(Array(5).fill(bytes))] };
    case "flipped": {
      const flipped = Buffer.from(bytes);
      if (flipped.length > 0) flipped[index(sent.at)] = sent.byte;
      return { parts: [flipped] };
    }
    default: {
      const ends = sent.at.map(index).sort((a, b) => a - b);
      const starts = [0, ...ends];
      const pieces = starts.map((start, n) => bytes.subarray(start, starts[n + 1] ?? bytes.length));
      return sent.kind === "cut"
        ? { parts: pieces.slice(0, -1), pauseMilliseconds: 1, cut: true }
        : { parts: pieces, pauseMilliseconds: 2 };
    }
  }
};
