import type { RequestListener } from "node:http";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { PublicFetch } from "../../../adapters/provider/public-fetch.js";
import { type LocalServer, startLocalServer } from "../../support/local-server.js";

const limits = { bytesMax: 1000, timeoutMilliseconds: 5000 };
const servers: LocalServer[] = [];
const fetchers: PublicFetch[] = [];

afterEach(async () => {
  await Promise.all(fetchers.splice(0).map((fetcher) => fetcher.close()));
  for (const server of servers.splice(0)) await server.close();
});

const aServer = async (listener: RequestListener): Promise<string> => {
  const server = await startLocalServer(listener);
  servers.push(server);
  return server.origin;
};

const aFetch = (...exemptOrigins: string[]): PublicFetch => {
  const fetcher = new PublicFetch(exemptOrigins);
  fetchers.push(fetcher);
  return fetcher;
};

describe("PublicFetch", () => {
  it.each([
    ["http, not https", "http://example.com/a.jpg"],
    ["a loopback address", "https://127.0.0.1/"],
    ["a loopback address in another spelling", "https://2130706433/"],
    ["the cloud metadata address", "https://169.254.169.254/latest/meta-data"],
    ["an IPv4 address mapped into IPv6", "https://[::ffff:192.168.0.1]/"],
  ])("refuses %s", async (_, url) => {
    expect((await aFetch().get(url, limits))._unsafeUnwrapErr().kind).toBe("forbidden");
  });

  it("refuses a host name that resolves to a private address, without connecting", async () => {
    let connections = 0;
    const origin = await aServer(() => {});
    servers[0]!.server.on("connection", () => connections++);
    const { port } = new URL(origin);
    expect((await aFetch().get(`https://localhost:${port}/`, limits))._unsafeUnwrapErr()).toMatchObject({
      kind: "forbidden",
      reason: expect.stringContaining("localhost is "),
    });
    expect(connections).toBe(0);
  });

  it("returns bytes and content type from an exempt origin", async () => {
    const origin = await aServer((_, response) => response.setHeader("content-type", "image/png").end("picture"));
    const fetched = (await aFetch(origin).get(`${origin}/a.png`, limits))._unsafeUnwrap();
    expect(Buffer.from(fetched.bytes).toString()).toBe("picture");
    expect(fetched.contentType).toBe("image/png");
  });

  it("follows up to three redirects, including relative ones", async () => {
    const origin = await aServer((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end("the end");
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const fetcher = aFetch(origin);
    const fetched = (await fetcher.get(`${origin}/3`, limits))._unsafeUnwrap();
    expect(Buffer.from(fetched.bytes).toString()).toBe("the end");
    expect((await fetcher.get(`${origin}/4`, limits))._unsafeUnwrapErr().kind).toBe("too_many_redirects");
  });

  it.each([
    ...[403, 404, 410].map((status) => [status, "gone"]),
    ...[401, 429, 500, 503].map((status) => [status, "unavailable"]),
  ] as [number, string][])("reports status %i as %s", async (status, kind) => {
    const origin = await aServer((_, response) => response.writeHead(status).end());
    expect((await aFetch(origin).get(origin, limits))._unsafeUnwrapErr().kind).toBe(kind);
  });

  it.each([
    ["429", 429, {}, 900],
    ["503 with a short Retry-After", 503, { "retry-after": "1" }, 900],
    ["429 with Retry-After: 0", 429, { "retry-after": "0" }, 0],
  ])("asks a host again that is busy with status %s", async (_, status, headers, milliseconds) => {
    let requests = 0;
    const origin = await aServer((_, response) => {
      requests += 1;
      if (requests === 1) response.writeHead(status, headers).end();
      else response.end("picture");
    });
    const before = performance.now();
    const fetched = (await aFetch(origin).get(origin, limits))._unsafeUnwrap();
    expect(Buffer.from(fetched.bytes).toString()).toBe("picture");
    expect(performance.now() - before).toBeGreaterThanOrEqual(milliseconds);
    expect(requests).toBe(2);
  });

  it.each([
    ["twice", { "retry-after": "0" }, 2],
    ["for longer than there is time", { "retry-after": "5" }, 1],
  ])("gives up if the host is busy %s", async (_, headers, expected) => {
    let requests = 0;
    const origin = await aServer((_, response) => {
      requests += 1;
      response.writeHead(429, headers).end();
    });
    const failure = (await aFetch(origin).get(origin, limits))._unsafeUnwrapErr();
    expect(failure).toMatchObject({ kind: "unavailable", problem: "its host answered with status 429" });
    expect(requests).toBe(expected);
  });

  it("reports the error, with the same text for internal and unknown names", async () => {
    const origin = await aServer((request, response) => {
      if (request.url === "/large") response.end(Buffer.alloc(2 * 1024 * 1024));
      else if (request.url === "/around") response.writeHead(302, { location: "/around" }).end();
      else response.writeHead(403).end();
    });
    const fetcher = aFetch(origin);
    const mebibyte = { ...limits, bytesMax: 1024 * 1024 };
    const problem = async (url: string) => (await fetcher.get(url, mebibyte))._unsafeUnwrapErr().problem;
    expect(await problem(`${origin}/secret`)).toBe("its host answered with status 403");
    expect(await problem(`${origin}/large`)).toBe("it has more than 1 MiB, the limit");
    expect(await problem(`${origin}/around`)).toBe("its URL leads through more than 3 redirects");
    expect(await problem("http://example.com/a.jpg")).toBe("its URL does not begin with https://");
    const internal = "the host in its URL is unknown, or has no public address";
    for (const host of ["localhost", "nowhere.invalid", "10.1.2.3"])
      expect(await problem(`https://${host}/a.jpg`)).toBe(internal);
  });

  it("reads up to bytesMax bytes and reports more as too_large", async () => {
    const origin = await aServer((request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)))));
    const fetcher = aFetch(origin);
    expect((await fetcher.get(`${origin}/1000`, limits))._unsafeUnwrap().bytes).toHaveLength(1000);
    expect((await fetcher.get(`${origin}/1001`, limits))._unsafeUnwrapErr().kind).toBe("too_large");
  });

  it("reports too_slow after the timeout if bytes have begun to arrive, and unavailable without an answer", async () => {
    const timeout = new AbortController();
    const timeoutOf = vi.spyOn(AbortSignal, "timeout").mockReturnValueOnce(timeout.signal);
    onTestFinished(() => timeoutOf.mockRestore());
    let sent = 0;
    const origin = await aServer((_, response) => {
      const drip = setInterval(() => {
        response.write(".");
        sent += 1;
        if (sent === 10) timeout.abort(); // the first ones have arrived
      }, 5);
      response.on("close", () => clearInterval(drip));
    });
    const failure = (await aFetch(origin).get(origin, { ...limits, timeoutMilliseconds: 200 }))._unsafeUnwrapErr();
    expect(timeoutOf).toHaveBeenCalledWith(200);
    expect(failure).toMatchObject({
      kind: "too_slow",
      reason: expect.stringMatching(/^only \d+ bytes arrived in time$/),
    });
    const silent = await aServer(() => {});
    const none = (await aFetch(silent).get(silent, { ...limits, timeoutMilliseconds: 200 }))._unsafeUnwrapErr();
    expect(none).toMatchObject({ kind: "unavailable", reason: expect.stringContaining("Timeout") });
  });

  it("reports a refused connection as unavailable", async () => {
    const origin = await aServer(() => {});
    await servers[0]!.close();
    expect((await aFetch(origin).get(origin, limits))._unsafeUnwrapErr().kind).toBe("unavailable");
  });
});
