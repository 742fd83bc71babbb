export type Answer = { readonly status: number; readonly says: string };

/** What the parser of the native server does instead: `silent` is no answer, and the connection stays open. */
export type Limit = "505" | "400" | "silent";

/** `KEY` stands for the customer's key. Each part is a packet of its own. */
export type UnusualRequest = {
  readonly what: string;
  readonly parts: readonly string[];
  readonly answer: Answer;
  readonly native?: Limit | Answer;
  /** nginx does not mend it either. */
  readonly isForNodeOnly?: true;
};

const HEALTHY: Answer = { status: 200, says: '{"status":"ok"}' };
/** The body was read. */
export const READ: Answer = {
  status: 400,
  says: 'resolution: must be \\"1k\\", \\"2k\\" or \\"4k\\", but is \\"9k\\".',
};

export const BODY = '{"prompt":"a lake","resolution":"9k"}';
const SIZE = BODY.length.toString(16);

const get = (target: string, version = "1.1", ...headers: readonly string[]): string =>
  [`GET ${target} HTTP/${version}`, ...headers, "", ""].join("\r\n");
const health = (...headers: readonly string[]): string => get("/healthz", "1.1", "host: x", ...headers);
export const post = (headers: readonly string[], body: string): string =>
  ["POST /api/v1/panoramas HTTP/1.1", "host: x", "x-api-key: KEY", ...headers, "", body].join("\r\n");
const chunked = (body: string): string => post(["transfer-encoding: chunked"], body);
const noRoute = (method: string): Answer => ({ status: 404, says: `There is no route for ${method} and this path.` });

/** Correct HTTP that few clients send. Where `native` is set, bootstrap/deployment/README.md has limit and remedy. */
export const UNUSUAL_REQUESTS: readonly UnusualRequest[] = [
  { what: "a path in two packets", parts: ["GET /heal", health().slice(9)], answer: HEALTHY, native: "505" },
  {
    what: "a long query in two packets",
    parts: [`GET /healthz?${"q".repeat(4_000)}`, `${"q".repeat(4_000)}${health().slice(12)}`],
    answer: HEALTHY,
    native: "505",
  },
  { what: "an empty line before it", parts: [`\r\n${health()}`], answer: HEALTHY, native: "505" },
  { what: "an absolute URL", parts: [get("http://x/healthz", "1.1", "host: x")], answer: HEALTHY, native: "505" },
  {
    what: "an absolute URL of https, in upper case and with a query",
    parts: [get("HTTPS://X:443/healthz?a=http://y/", "1.1", "host: x")],
    answer: HEALTHY,
    native: "505",
  },
  {
    what: "an absolute URL without a path",
    parts: [get("http://x?q", "1.1", "host: x")],
    answer: { status: 404, says: "<p>no such page</p>" },
    native: "505",
  },
  { what: "HTTP/1.0 without Host", parts: [get("/healthz", "1.0")], answer: HEALTHY, native: "505" },
  {
    what: "HTTP/1.0 with a body",
    parts: [post([`content-length: ${BODY.length}`], BODY).replace("1.1", "1.0")],
    answer: READ,
    native: "505",
  },
  {
    what: "OPTIONS *",
    parts: ["OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n"],
    answer: noRoute("OPTIONS"),
    native: "505",
    isForNodeOnly: true,
  },
  {
    what: "CONNECT",
    parts: ["CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n"],
    answer: {
      status: 400,
      says: "CONNECT: opens a tunnel through a proxy, and this is none. Send the request itself.",
    },
    native: "505",
    isForNodeOnly: true,
  },
  { what: "a dot in a header name", parts: [health("x.y: 1")], answer: HEALTHY, native: "silent" },
  {
    what: "120 headers",
    parts: [health(...Array.from({ length: 119 }, (_, n) => `x-${n}: 1`))],
    answer: HEALTHY,
    native: "silent",
    isForNodeOnly: true,
  },
  {
    what: "an expectation that nobody knows",
    parts: [post([`content-length: ${BODY.length}`, "expect: 200-ok"], BODY)],
    answer: READ,
  },
  {
    what: "Expect: 100-Continue with its body at once",
    parts: [post([`content-length: ${BODY.length}`, "expect: 100-Continue"], BODY)],
    answer: READ,
  },
  { what: "chunks", parts: [chunked(`${SIZE}\r\n${BODY}\r\n0\r\n\r\n`)], answer: READ },
  {
    what: "chunks in many packets",
    parts: chunked(`${SIZE}\r\n${BODY}\r\n0\r\n\r\n`).split(/(?<=\n)/),
    answer: READ,
  },
  {
    what: "Transfer-Encoding in upper case",
    parts: [post(["transfer-encoding: CHUNKED"], `${SIZE}\r\n${BODY}\r\n0\r\n\r\n`)],
    answer: READ,
    native: { status: 400, says: "Transfer-Encoding: must be chunked, in lower case, or not sent at all." },
  },
  {
    what: "another Transfer-Encoding",
    parts: [post(["transfer-encoding: gzip, chunked"], `${SIZE}\r\n${BODY}\r\n0\r\n\r\n`)],
    answer: { status: 400, says: "Transfer-Encoding: must be chunked" },
  },
  { what: "trailers", parts: [chunked(`${SIZE}\r\n${BODY}\r\n0\r\nx-sum: 1\r\n\r\n`)], answer: READ, native: "505" },
  {
    what: "a chunk extension",
    parts: [chunked(`${SIZE};a=b\r\n${BODY}\r\n0\r\n\r\n`)],
    answer: READ,
    native: "silent",
  },
  {
    what: "a chunk extension in quotes",
    parts: [chunked(`${SIZE};a="b c"\r\n${BODY}\r\n0;x\r\n\r\n`)],
    answer: READ,
    native: "400",
  },
];
