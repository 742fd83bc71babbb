import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type LookupFunction, type Server, type Socket } from "node:net";
import { generate } from "selfsigned";
import { Agent, EnvHttpProxyAgent } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClientOptions, PanoramaClient } from "../../../../adapters/client/panorama-client.js";
import { aRequest, failureOf } from "../client-setup.js";

const DAY = 24 * 3600 * 1000;
const HOST = "localhost";

type Ca = { readonly key: string; readonly cert: string };

const certificate = async (name: string, days: readonly [number, number], ca?: Ca): Promise<Ca> => {
  const [notBeforeDate, notAfterDate] = days.map((day) => new Date(Date.now() + day * DAY)) as [Date, Date];
  const made = await generate([{ name: "commonName", value: name }], {
    notBeforeDate,
    notAfterDate,
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: name }] }],
    ...(ca && { ca }),
  });
  return { key: made.private, cert: made.cert };
};

describe("a creation that fails on its way", () => {
  const servers: Server[] = [];
  const ports: Record<string, number> = {};
  let trusted: string[];
  /** To servers with a certificate. */
  let connections = 0;

  const listen = async (name: string, server: Server) => {
    servers.push(server);
    server.listen(0, HOST);
    await once(server, "listening");
    ports[name] = (server.address() as AddressInfo).port;
  };
  const onData = (answer: (socket: Socket) => void) =>
    createServer((socket) => socket.on("error", () => {}).once("data", () => answer(socket)));

  beforeAll(async () => {
    const ca = await certificate("an issuer", [-1, 1]);
    const [self, issued, expired, future, other] = await Promise.all([
      certificate(HOST, [-1, 1]),
      certificate(HOST, [-1, 1], ca),
      certificate(HOST, [-2, -1]),
      certificate(HOST, [1, 2]),
      certificate("elsewhere.example", [-1, 1]),
    ]);
    trusted = [expired.cert, future.cert, other.cert];
    for (const [name, options] of Object.entries({ self, issued, expired, future, other }))
      await listen(
        name,
        createHttpsServer(options).on("connection", () => connections++),
      );
    await listen("plain", createHttpServer());
    await listen(
      "reset",
      onData((socket) => socket.resetAndDestroy()),
    );
    await listen(
      "closed",
      onData((socket) => socket.end()),
    );
    await listen(
      "silent",
      onData(() => {}),
    );
    await listen(
      "garbage",
      onData((socket) => socket.end("hello\r\n\r\n")),
    );
    const proxy = createHttpServer((request, response) =>
      response.writeHead(Number(request.headers["x-status"])).end("<html>"),
    );
    await listen(
      "proxy",
      proxy.on("connect", (_, socket) => socket.end("HTTP/1.1 403 No\r\n\r\n")),
    );
    await listen("gone", createServer());
    await new Promise((resolve) => servers.pop()?.close(resolve));
  });
  afterAll(() => {
    for (const server of servers) {
      server.close();
      if ("closeAllConnections" in server) (server as ReturnType<typeof createHttpServer>).closeAllConnections();
    }
  });

  /** `:NAME` stands for the port of a server. */
  const withPorts = (text: string) =>
    text.replace(/:([a-z]+)(?=\W|$)/g, (all, name) => (ports[name] ? `:${ports[name]}` : all));
  const created = (
    url: string,
    dispatcher?: object,
    headers: Record<string, string> = {},
    more: ClientOptions = {},
  ) => {
    const fetchWith = (target: string, init: RequestInit) => fetch(target, { ...init, dispatcher } as object);
    const options = { baseUrl: withPorts(url), apiKey: "sk-1", maxRetries: 0, defaultHeaders: headers, ...more };
    return failureOf(new PanoramaClient(dispatcher ? { ...options, fetch: fetchWith } : options).create(aRequest()));
  };

  it.each([
    ["https://nowhere.invalid", "there is no host with the name of nowhere.invalid (ENOTFOUND)."],
    ["http://localhost:gone", "nothing accepts connections at localhost:gone (ECONNREFUSED)."],
    ["http://255.255.255.255", "there is no route to 255.255.255.255 (ENETUNREACH)."],
    ["http://localhost:6000", "fetch does not allow this port."],
    ["https://localhost:self", /^the certificate of localhost:self is self-signed, .*NODE_EXTRA_CA_CERTS/],
    [
      "https://localhost:issued",
      /^the certificate of localhost:issued is from an issuer that is not trusted\..*NODE_EXT/,
    ],
    ["https://localhost:expired", "the certificate of localhost:expired has expired (CERT_HAS_EXPIRED)."],
    ["https://localhost:future", /^the certificate of localhost:future is not valid yet, or the clock/],
    ["https://localhost:other", /^the certificate of localhost:other is for another host name/],
    ["https://localhost:plain", /^localhost:plain does not answer with TLS\. Its URL may have to begin with http:/],
    ["https://localhost:reset", "localhost:reset did not complete the connection (ECONNRESET)."],
    ["https://localhost:closed", "localhost:closed did not complete the connection (ECONNRESET)."],
    ["https://localhost:silent", "localhost:silent did not accept a connection in time (UND_ERR_CONNECT_TIMEOUT)."],
  ])("before anything was sent to %s says why, and not that it may have been accepted", async (url, reason) => {
    const connect = { timeout: 200, ...(/expired|future|other/.test(url) && { ca: trusted }) };
    const error = await created(url, /silent|expired|future|other/.test(url) ? new Agent({ connect }) : undefined);
    expect(error).toMatchObject({ code: "network_error", mayHaveBeenAccepted: false });
    const [, said] = error.message.split(" cannot be reached: ");
    if (typeof reason === "string") expect(said).toBe(withPorts(reason));
    else expect(said).toMatch(new RegExp(withPorts(reason.source)));
  });

  it.each([
    ["http://localhost:reset", "the connection was closed (ECONNRESET)."],
    ["http://localhost:closed", "the connection was closed (UND_ERR_SOCKET)."],
    ["http://localhost:garbage", /does not match the HTTP/],
  ])("after it was sent to %s says that it may have been accepted", async (url, reason) => {
    const error = await created(url);
    expect(error).toMatchObject({ code: "network_error", mayHaveBeenAccepted: true });
    expect(error.message.split(" gave no answer: ")[1] ?? error.message).toMatch(reason);
  });

  const never: LookupFunction = () => {};
  const AT_LAST = { timeout: 300 };

  it.each([
    ["a name that is not resolved", "http://slow.example", { lookup: never }],
    ["TLS that does not begin", "https://localhost:silent", undefined],
    ["TLS that does not begin, with npm's undici", "https://localhost:silent", {}],
  ])("during %s in the caller's time was not accepted", async (_, url, connect) => {
    const dispatcher = connect && new Agent({ connect });
    const error = await created(url, dispatcher, {}, AT_LAST);
    expect(error).toMatchObject({ code: "timeout", mayHaveBeenAccepted: false });
    expect(error.message).toBe(withPorts(`${url}/api/v1 cannot be reached: there was no connection in time.`));
    const fetchWith = (target: string, init: RequestInit) => fetch(target, { ...init, dispatcher } as object);
    const client = new PanoramaClient({ baseUrl: withPorts(url), apiKey: "sk-1", fetch: fetchWith });
    const aborted = await failureOf(client.create(aRequest(), { signal: AbortSignal.timeout(200) }));
    expect(aborted).toMatchObject({ code: "aborted", mayHaveBeenAccepted: false });
  });

  it("after it was sent, on a connection of another call or of its own, may have been accepted", async () => {
    const waits = createHttpServer((request, answer) => {
      if (request.method === "GET") answer.writeHead(404).end();
    });
    await listen("waits", waits);
    const client = new PanoramaClient({ baseUrl: withPorts("http://localhost:waits"), apiKey: "sk-1", maxRetries: 0 });
    for (const prepare of [() => failureOf(client.credits()), () => undefined]) {
      await prepare();
      for (const key of ["k", crypto.randomUUID(), '"']) {
        const options = { idempotencyKey: key, timeout: 200 };
        expect(await failureOf(client.create(aRequest(), options))).toMatchObject({ mayHaveBeenAccepted: true });
      }
    }
    const otherFetch = () => new Promise<Response>((_, reject) => setTimeout(() => reject(new Error("cut")), 300));
    const error = await created(
      "http://localhost:waits",
      undefined,
      {},
      { ...AT_LAST, timeout: 100, fetch: otherFetch },
    );
    expect(error).toMatchObject({ code: "timeout", mayHaveBeenAccepted: true });
  });

  it.each(["self", "issued"])("on a certificate that is not trusted (%s) is not repeated", async (name) => {
    const before = connections;
    const error = await created(`https://localhost:${name}`, undefined, {}, { maxRetries: 5 });
    expect(error.message).toContain("NODE_EXTRA_CA_CERTS");
    expect(connections - before).toBe(1);
  });

  it.each([
    ["https://service.example", "localhost:proxy", "the proxy does not let the request through and answers 403."],
    ["http://service.example", "localhost:proxy", /^the proxy .*407: it wants a user name and a password/],
    [
      "https://service.example",
      "localhost:gone",
      "nothing accepts connections at the proxy localhost:gone (ECONNREFUSED).",
    ],
    [
      "http://service.example",
      "proxy.invalid:3128",
      /^there is no host with the name of the proxy proxy\.invalid:3128/,
    ],
  ])("to %s at the proxy %s names the proxy", async (url, proxy, reason) => {
    const dispatcher = new EnvHttpProxyAgent({
      httpProxy: `http://${withPorts(proxy)}`,
      httpsProxy: `http://${withPorts(proxy)}`,
      proxyTunnel: false,
    });
    const error = await created(url, dispatcher, { "x-status": "407" });
    expect(error).toMatchObject({ code: "network_error", mayHaveBeenAccepted: false });
    const said = error.message.split(" cannot be reached: ")[1];
    if (typeof reason === "string") expect(said).toBe(withPorts(reason));
    else expect(said).toMatch(reason);
  });
});
