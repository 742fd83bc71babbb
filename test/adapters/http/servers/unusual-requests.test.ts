import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Customer, HttpService } from "../../../support/http-service.js";
import { serverName } from "../../../support/make-server.js";
import { RawConnection } from "../../../support/raw-connection.js";
import {
  type Answer,
  BODY,
  type Limit,
  post,
  READ,
  UNUSUAL_REQUESTS,
  type UnusualRequest,
} from "../../../support/unusual-requests.js";

const health = (...headers: string[]): string => ["GET /healthz HTTP/1.1", "host: x", ...headers, "", ""].join("\r\n");
const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `x-${n}: 1`);
/** `silent`: no answer. `closed`: the connection is closed. `JSON`: with the error body of the interface. */
type Behaviour = "200" | "404" | "silent" | `${number} closed` | `${number} JSON` | `${number} JSON closed`;

/** What a correct client never sends. bootstrap/deployment/README.md sums up what the servers do. */
const MALFORMED: readonly (readonly [request: string, text: string, native: Behaviour, node: Behaviour])[] = [
  ["99 headers", health(...numbered(98)), "silent", "200"],
  ["a space before the colon", health("x : 1"), "silent", "400 JSON closed"],
  ["a control character in a value", health("x: \x01"), "silent", "400 JSON closed"],
  ["no header at all", "GET /healthz HTTP/1.1\r\n\r\n", "silent", "400 JSON closed"],
  ["a header block of 60 kB in one packet", health(`x: ${"v".repeat(60_000)}`), "200", "431 JSON closed"],
  [
    "an unfinished header block of 8 kB",
    `GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${"v".repeat(8_000)}`,
    "431 closed",
    "400 JSON closed",
  ],
  ["a control character in the path", health().replace("/h", "/\x01"), "505 closed", "400 JSON closed"],
  ["a TLS handshake", "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n", "505 closed", "400 JSON closed"],
  ["an unknown method", health().replace("GET", "BREW"), "404 JSON", "400 JSON closed"],
  ["no Host header", "GET /healthz HTTP/1.1\r\nx: 1\r\n\r\n", "400 closed", "400 JSON closed"],
  ["a content length of 23 digits", post([`content-length: ${"9".repeat(23)}`], "{}"), "400 closed", "400 JSON closed"],
  [
    "content length and transfer encoding",
    post(["content-length: 2", "transfer-encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n"),
    "400 closed",
    "400 JSON closed",
  ],
  [
    "a chunk size that is not a number",
    post(["transfer-encoding: chunked"], "zz\r\n{}\r\n0\r\n\r\n"),
    "400 closed",
    "400 JSON closed",
  ],
];

describe("the HTTP server and unusual requests", () => {
  let service: HttpService;
  let customer: Customer;
  let balance: number;

  beforeAll(async () => {
    service = await HttpService.start();
    customer = await service.customer();
    balance = await service.ledger.balance(customer.accountId);
  });
  afterAll(async () => {
    expect(service.failures).toEqual([]);
    expect(await service.ledger.balance(customer.accountId)).toBe(balance);
    await service.end();
  });

  const sent = async (parts: readonly string[]): Promise<RawConnection> => {
    await service.clock.advance(60_000); // the limit of requests
    const connection = await RawConnection.open(service.port);
    connection.socket.setNoDelay(true);
    for (const part of parts) {
      connection.send(part.replace("KEY", customer.key));
      await setTimeout(20); // so that the next part is a packet of its own
    }
    return connection;
  };

  const expected = ({ answer, native }: UnusualRequest): Answer | Limit =>
    (serverName === "native" && native) || answer;

  it.each(UNUSUAL_REQUESTS.map((row) => [row.what, row] as const))(
    "serves correct HTTP, or its parser refuses it: %s",
    async (_, row) => {
      const expects = expected(row);
      const connection = await sent(row.parts);
      if (expects === "silent") {
        await setTimeout(200);
        expect([connection.socket.bytesRead, connection.socket.closed]).toEqual([0, false]);
        return connection.close();
      }
      connection.socket.end();
      const answer = await connection.all();
      if (typeof expects === "string") {
        expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${expects} `));
        expect(answer).toContain("<i>uWebSockets/20 Server</i>");
        return;
      }
      expect(answer.replace("HTTP/1.1 100 Continue\r\n\r\n", "")).toMatch(new RegExp(`^HTTP/1\\.1 ${expects.status} `));
      expect(answer).toContain(expects.says);
      if (!expects.says.startsWith("<")) expect(answer).toContain("\r\ncontent-type: application/json");
    },
  );

  it.each(["100-continue", "100-Continue", "100-CONTINUE"])("serves a client that sends Expect: %s", async (text) => {
    const head = post([`content-length: ${BODY.length}`, `expect: ${text}`], "");
    const connection = await sent([head]);
    if (serverName !== "native" || text === "100-continue") {
      expect(await connection.response()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    }
    connection.send(BODY); // uWebSockets knows lower case only: a client that waits for ever is not served there
    expect(await connection.response()).toContain(READ.says);
    connection.close();
  });

  /** What is received; the client sends nothing after `text`. */
  const answerTo = async (text: string): Promise<string> => {
    const connection = await sent([text]);
    connection.socket.end();
    const answer = await connection.response();
    connection.close();
    return answer;
  };

  it.each(
    MALFORMED.map(([request, text, native, node]) => [serverName === "node" ? node : native, request, text] as const),
  )("answers %s to malformed HTTP: %s", async (behaviour, _, text) => {
    const answer = await answerTo(text);
    if (behaviour === "silent") {
      expect(answer).toBe("");
      expect(await answerTo(health())).toMatch(/^HTTP\/1\.1 200 OK\r\n/); // on another connection
      return;
    }
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${behaviour.slice(0, 3)} `));
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    if (behaviour.endsWith("closed")) expect(head).toMatch(/\r\nconnection: close(\r\n|$)/i);
    if (behaviour === "200") return;
    expect(/\r\ncontent-type: application\/json(\r\n|$)/.test(head)).toBe(behaviour.includes("JSON"));
    if (!behaviour.includes("JSON")) return;
    const code = behaviour.startsWith("404") ? "not_found" : "invalid_request";
    expect(JSON.parse(body)).toEqual({ error: { code, message: expect.stringMatching(/^[A-Z].*\.$/) } });
  });

  /** Each has a request in its body, if its end is taken to be elsewhere. */
  const INSIDE = health();
  const CHUNKS = `${INSIDE.length.toString(16)}\r\n${INSIDE}\r\n0\r\n\r\n`;
  const FRAMINGS: readonly (readonly [what: string, headers: readonly string[], body: string])[] = [
    ["two lengths, too small first", ["content-length: 2", "content-length: 3"], "{}x"],
    ["two lengths, too large first", ["content-length: 3", "content-length: 2"], "{}x"],
    ["two lengths, zero first", ["content-length: 0", `content-length: ${INSIDE.length}`], INSIDE],
    ["two lengths, nothing first", ["content-length:", `content-length: ${INSIDE.length}`], INSIDE],
    ["three lengths, the second other", ["content-length: 0", "content-length: 9", "content-length: 0"], INSIDE],
    ["a length without a number", ["content-length:"], INSIDE],
    ["a list of lengths", ["content-length: 0, 5"], INSIDE],
    ["gzip, chunked", ["transfer-encoding: gzip, chunked"], CHUNKS],
    ["chunked, identity", ["transfer-encoding: chunked, identity"], CHUNKS],
    ["chunked, chunked", ["transfer-encoding: chunked, chunked"], CHUNKS],
    ["identity", ["transfer-encoding: identity"], INSIDE],
    ["xchunked", ["transfer-encoding: xchunked"], CHUNKS],
    ["an empty encoding", ["transfer-encoding:"], INSIDE],
    ["two encodings", ["transfer-encoding: gzip", "transfer-encoding: chunked"], CHUNKS],
    ["the same encoding twice", ["transfer-encoding: chunked", "transfer-encoding: chunked"], CHUNKS],
    ["two encodings, nothing first", ["transfer-encoding:", "transfer-encoding: chunked"], INSIDE],
    ["a length and an empty encoding", ["content-length: 5", "transfer-encoding:"], INSIDE],
    ["an empty length and an encoding", ["content-length:", "transfer-encoding: chunked"], CHUNKS],
  ];
  const TARGETS = [
    "POST /api/v1/panoramas",
    "POST /api/v1/images",
    "GET /api/v1/credits",
    "HEAD /healthz",
    "PUT /nowhere",
  ];

  it.each(FRAMINGS)(
    "ends the connection after 400 if the end of a body is not certain: %s",
    async (_, headers, body) => {
      for (const target of TARGETS) {
        const request = [`${target} HTTP/1.1`, "host: x", ...headers, "", body].join("\r\n");
        const connection = await sent([request + INSIDE]);
        const answer = await connection.all(); // until the server closes it
        expect([target, answer.match(/HTTP\/1\.1 \d+/g)]).toEqual([target, ["HTTP/1.1 400"]]);
        expect(answer).toMatch(/\r\nconnection: close\r\n/i);
      }
    },
  );

  it.each([
    ["a creation", "POST /api/v1/panoramas", "content-type: application/json"],
    ["an upload", "POST /api/v1/images", "content-type: multipart/form-data; boundary=x"],
  ])("refuses a long body in chunks of one byte, and ends the connection: %s", async (_, target, type) => {
    const start = [`${target} HTTP/1.1`, "host: x", "authorization: Bearer KEY", "transfer-encoding: chunked", type];
    const connection = await sent([[...start, "", ""].join("\r\n")]);
    const before = process.cpuUsage();
    connection.send("1\r\nv\r\n".repeat(200_000));
    const answer = await connection.all();
    const { user, system } = process.cpuUsage(before);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain("too many tiny chunks");
    expect((user + system) / 1_000_000).toBeLessThan(2); // with the client; 4 s and more for a third of these bytes
  });
});
