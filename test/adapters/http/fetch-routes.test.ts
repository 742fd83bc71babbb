import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { anImageName } from "../../../adapters/contracts/support/builders.js";
import {
  type FetchRoutes,
  type FetchRoutesOptions,
  fetchRoutes,
  restRoutes,
} from "../../../adapters/http/embedded-routes.js";
import { A_CREATION, assetsOf, type Customer, HttpService } from "../../support/http-service.js";
import { startLocalServer } from "../../support/local-server.js";

const BASE = "https://example.com/panoramas";
const PAGE = "https://pages.example";

/** The specification runs over this handler, too: `on-fetch.slow.test.ts`. */
describe("fetchRoutes", () => {
  let service: HttpService;
  let customer: Customer;
  let routes: FetchRoutes;

  const mounted = (options: Partial<FetchRoutesOptions> = {}) => {
    const { application, observer, storage } = service;
    const assets = assetsOf(storage);
    return fetchRoutes(application, { publicUrl: BASE, basePath: "/panoramas", storage, observer, assets, ...options });
  };
  const request = (path: string, init: RequestInit = {}) =>
    new Request(`${BASE}/api/v1${path}`, { ...init, headers: { "x-api-key": customer.key, ...init.headers } });
  const call = (path: string, init?: RequestInit) => routes.fetch(request(path, init));

  beforeAll(async () => {
    service = await HttpService.start();
  });
  afterAll(() => service.end());
  beforeEach(async () => {
    customer = await service.customer();
    routes = await mounted({ cors: { origins: [PAGE] } });
  });
  afterEach(async () => {
    await routes.stop(0);
    expect(service.inFlight).toBe(0);
  });

  it("streams a part of an image", async () => {
    const name = anImageName();
    await service.storage.put(name, Buffer.from("abcdef"), "image/jpeg");
    const part = await routes.fetch(new Request(`${BASE}/assets/${name}`, { headers: { range: "bytes=1-3" } }));
    expect([part.status, part.headers.get("content-length"), await part.text()]).toEqual([206, "3", "bcd"]);
  });

  it("ends a wait when the client leaves, and when the routes stop", async () => {
    const id = await service.created(customer);
    const left = new AbortController();
    const waiting = call(`/panoramas/${id}`, { headers: { prefer: "wait=30" }, signal: left.signal });
    await expect.poll(() => service.inFlight).toBe(1);
    left.abort();
    expect((await waiting).status).toBe(499);
    const stopped = call(`/panoramas/${id}`, { headers: { prefer: "wait=30" } });
    await expect.poll(() => service.inFlight).toBe(1);
    await routes.stop(20_000);
    expect((await stopped).status).toBe(200);
  });

  it("rejects a request whose body somebody has read", async () => {
    const read = request("/panoramas", { method: "POST", body: "{}" });
    await read.text();
    await expect(routes.fetch(read)).rejects.toThrow("The body of this request has been read already.");
    const locked = request("/panoramas", { method: "POST", body: "{}" });
    locked.body?.getReader();
    await expect(routes.fetch(locked)).rejects.toThrow("The body of this request has been read already.");
  });

  it("answers 408 to a slow body, and waits for a body in time", async () => {
    const bytesIn10Seconds = async (...counts: readonly number[]) => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
      let pulls = 0; // one for each chunk that the routes wait for
      const pull = (one: ReadableStreamDefaultController<Uint8Array>) => {
        controller = one;
        pulls += 1;
      };
      const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
      const headers = { "content-type": "multipart/form-data; boundary=b" };
      const answer = call("/images", { method: "POST", body, headers, duplex: "half" } as RequestInit);
      await expect.poll(() => pulls).toBe(1);
      for (const [n, count] of counts.entries()) {
        controller?.enqueue(new Uint8Array(count));
        await expect.poll(() => pulls).toBe(n + 2);
        vi.advanceTimersByTime(10_000);
      }
      if (vi.getTimerCount() > 0) controller?.close();
      const { status } = await answer;
      const { error } = (await (await answer).json()) as { error: { code: string } };
      vi.useRealTimers();
      await expect.poll(() => service.inFlight).toBe(0);
      return [status, error.code];
    };
    expect(await bytesIn10Seconds(160_000, 160_000)).toEqual([400, "invalid_request"]); // no multipart
    expect(await bytesIn10Seconds(160_000, 159_999)).toEqual([408, "invalid_request"]);
  });

  it("takes the last value of a header that was sent twice, as a server of ours", async () => {
    const twice = (name: string, ...values: readonly string[]) => {
      const headers = new Headers({ "x-api-key": customer.key });
      for (const value of values) headers.append(name, value);
      return headers;
    };
    const create = async (...keys: readonly string[]) => {
      const headers = twice("idempotency-key", ...keys);
      const init = { method: "POST", body: JSON.stringify(A_CREATION), headers };
      const { id } = (await (await routes.fetch(new Request(`${BASE}/api/v1/panoramas`, init))).json()) as {
        id: string;
      };
      return id;
    };
    const first = await create("one", "two");
    expect([await create("two"), await create("one")]).toEqual([first, expect.not.stringMatching(first)]);
  });

  it("lets pages of the given origins call it, and no others", async () => {
    const asked = (origin: string, method = "POST") =>
      new Request(`${BASE}/api/v1/panoramas`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": method },
      });
    const allowed = await routes.fetch(asked(PAGE));
    expect([allowed.status, Object.fromEntries(allowed.headers)]).toEqual([
      204,
      expect.objectContaining({
        "access-control-allow-origin": PAGE,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": expect.stringContaining("x-api-key"),
        vary: "origin",
      }),
    ]);
    expect((await routes.fetch(asked(PAGE, "PUT"))).status).toBe(404);
    const other = await routes.fetch(asked("https://other.example"));
    expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([404, null]);
    const withoutOrigin = await call("/credits");
    const { headers } = withoutOrigin;
    expect([headers.get("vary"), headers.get("access-control-allow-origin")]).toEqual(["origin", null]);
    const read = await call("/credits", { headers: { origin: PAGE } });
    expect([read.status, read.headers.get("access-control-allow-origin")]).toEqual([200, PAGE]);
    expect(read.headers.get("access-control-expose-headers")).toContain("retry-after");
    const refused = await call("/credits", { headers: { origin: PAGE, "x-api-key": "wrong" } });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, PAGE]);
  });

  it("sends the same CORS headers as node:http", async () => {
    const { application, storage, observer } = service;
    const own = await restRoutes(application, { publicUrl: BASE, storage, observer, cors: { origins: "*" } });
    const server = await startLocalServer((incoming, outgoing) =>
      own.handle(incoming, outgoing, () => outgoing.end("a page of the embedder")),
    );
    const headers = { origin: PAGE, "access-control-request-method": "POST" };
    const asked = await fetch(`${server.origin}/api/v1/panoramas`, { method: "OPTIONS", headers });
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    const cached = await fetch(`${server.origin}/api/v1/credits`); // a page may get this answer from a cache
    expect([cached.status, cached.headers.get("access-control-allow-origin")]).toEqual([401, "*"]);
    const elsewhere = await fetch(`${server.origin}/about`, { method: "OPTIONS", headers });
    expect(await elsewhere.text()).toBe("a page of the embedder");
    await server.close();
    await own.stop(0);
  });
});
