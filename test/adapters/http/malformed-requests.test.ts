import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Customer, HttpService } from "../../support/http-service.js";
import { RawConnection } from "../../support/raw-connection.js";

/** What the HTTP server does with requests that a correct client never sends. OPERATIONS.md has the same table. */
describe("the HTTP server and malformed requests", () => {
  let service: HttpService;
  let customer: Customer;

  beforeAll(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterAll(async () => {
    expect(service.failures).toEqual([]);
    await service.end();
  });

  /** Everything that is received until the server closes the connection; the client sends nothing after `text`. */
  const answerTo = async (text: string): Promise<string> => {
    const connection = await RawConnection.open(service.port);
    connection.send(text.replace("KEY", customer.key));
    connection.socket.end();
    const answer = await connection.response();
    connection.close();
    return answer;
  };
  const health = (...headers: string[]): string =>
    ["GET /healthz HTTP/1.1", "host: x", ...headers, "", ""].join("\r\n");
  const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `x-${n}: 1`);
  /** `KEY` stands for the customer's key. */
  const post = (headers: string[], body: string): string =>
    ["POST /api/v1/panoramas HTTP/1.1", "host: x", "x-api-key: KEY", ...headers, "", body].join("\r\n");

  it.each([
    ["the most headers, 98", health(...numbered(97))],
    ["a header block of 60 kB in one packet", health(`x: ${"v".repeat(60_000)}`)],
    ["bytes above 127 in a value", health("x: \xe9")],
    ["an empty value", health("x:")],
  ])("answers %s", async (_, text) => {
    expect(await answerTo(text)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it.each([
    ["an underscore in a header name", health("x_y: 1")],
    ["a dot in a header name", health("x.y: 1")],
    ["a space before the colon", health("x : 1")],
    ["a line without a colon", health("xy")],
    ["a folded line", health("x: 1", " 2")],
    ["a control character in a value", health("x: \x01")],
    ["a NUL in a value", health("x: \0")],
    ["99 headers", health(...numbered(98))],
    ["no header at all", "GET /healthz HTTP/1.1\r\n\r\n"],
  ])("is silent after %s, and other connections are answered", async (_, text) => {
    expect(await answerTo(text)).toBe("");
    expect(await answerTo(health())).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it.each([
    [505, "HTTP/1.0", health().replace("1.1", "1.0")],
    [505, "HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    [505, "an absolute URL", health().replace("/healthz", "http://x/healthz")],
    [505, "two spaces before the path", health().replace(" /", "  /")],
    [505, "a control character in the path", health().replace("/h", "/\x01")],
    [505, "a TLS handshake", "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n"],
    [505, "lines that end with LF only", health().replaceAll("\r", "")],
    [400, "no Host header", "GET /healthz HTTP/1.1\r\nx: 1\r\n\r\n"],
    [400, "a negative content length", post(["content-length: -1"], "{}")],
    [400, "a content length that is not a number", post(["content-length: 2, 2"], "{}")],
    [400, "a content length of 23 digits", post([`content-length: ${"9".repeat(23)}`], "{}")],
    [
      400,
      "content length and transfer encoding",
      post(["content-length: 2", "transfer-encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n"),
    ],
    [400, "a chunk size that is not a number", post(["transfer-encoding: chunked"], "zz\r\n{}\r\n0\r\n\r\n")],
    [431, "an unfinished header block of 8 kB", `GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${"v".repeat(8_000)}`],
  ])("answers %i without a JSON body and closes the connection after %s", async (status, _, text) => {
    const answer = await answerTo(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain("\r\nConnection: close\r\n");
    expect(answer).not.toContain("application/json");
  });

  it.each([
    ["too small first", ["content-length: 2", "content-length: 3"], "{}x"],
    ["too large first", ["content-length: 3", "content-length: 2"], "{}x"],
    ["zero first", ["content-length: 0", "content-length: 2"], "{}"],
  ])("refuses two different content lengths, %s", async (_, headers, body) => {
    await service.clock.advance(60_000);
    const connection = await RawConnection.open(service.port);
    connection.send(post(headers, body).replace("KEY", customer.key));
    const answer = await connection.response();
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({
      error: {
        code: "invalid_request",
        message: "Content-Length: must not be sent more than once with different values.",
      },
    });
    connection.close();
  });
});
