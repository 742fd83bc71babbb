import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Overload } from "../../../adapters/http/overload.js";
import { expectError } from "../../support/error-answer.js";
import { A_CREATION, HttpService } from "../../support/http-service.js";
import { RawConnection } from "../../support/raw-connection.js";

const MESSAGE = "The service is overloaded and has not handled this request. Retry in 1 s.";

describe("the HTTP server when more requests arrive than it can handle", () => {
  let service: HttpService;
  afterEach(() => service.end());

  it("refuses a creation at once and without any effect while too much waits for the database", async () => {
    let waiting = true;
    service = await HttpService.start({ isDatabaseOverloaded: (kind) => waiting && kind === "write" });
    const customer = await service.customer();
    const headers = { "idempotency-key": "one", "x-request-id": "mine" };
    const refused = await service.create(customer, A_CREATION, headers);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("x-request-id")).toBe("mine");
    expect(await expectError(refused, 429, "rate_limited")).toBe(MESSAGE);
    expect(service.calls.createPanorama).toBe(0);
    expect(service.overloaded).toBe(1);
    expect((await service.request("/credits", customer)).status).toBe(200);

    waiting = false;
    const created = await service.create(customer, A_CREATION, headers);
    expect(created.status).toBe(202);
    expect(created.headers.get("idempotent-replayed")).toBeNull();
    expect(created.headers.get("ratelimit")).toBe('"write";r=9;t=60'); // the refused one does not count
  });

  it("discards the rest of a refused request, and its connection stays usable", async () => {
    service = await HttpService.start({ isDatabaseOverloaded: (kind) => kind === "write" });
    const connection = await RawConnection.open(service.port);
    connection.send("POST /api/v1/images HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhello");
    expect(await connection.response()).toContain("HTTP/1.1 429 Too Many Requests");
    connection.send("world");
    connection.send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    expect(await connection.response()).toContain("HTTP/1.1 200 OK");
    connection.socket.destroy();
  });

  it("answers health checks and metrics while everything else is refused", async () => {
    service = await HttpService.start({ isDatabaseOverloaded: () => true });
    for (const path of ["/healthz", "/readyz", "/metrics"]) {
      expect((await fetch(service.url + path)).status).toBe(200);
    }
    for (const path of ["/api/v1/credits", "/unknown", "/assets/panoramas/a.jpg"]) {
      await expectError(await fetch(service.url + path), 429, "rate_limited");
    }
    const connection = await RawConnection.open(service.port);
    for (let n = 0; n < 2; n += 1) {
      connection.send("HEAD /api/v1/credits HTTP/1.1\r\nhost: localhost\r\n\r\n");
      expect(await connection.response(false)).toMatch(/^HTTP\/1\.1 429 [\s\S]*\r\n\r\n$/);
    }
    connection.close();
  });
});

describe("Overload", () => {
  afterEach(() => void vi.restoreAllMocks());

  it("refuses the requests of a turn of the event loop that has lasted 20 ms, after the first 256", async () => {
    let now = 1_000;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const overload = new Overload(() => false);
    const refusedOf = (requests: number) =>
      Array.from({ length: requests }, () => overload.refuses("read")).filter((refused) => refused).length;
    expect(refusedOf(300)).toBe(0); // in no time
    now += 21;
    expect(refusedOf(10)).toBe(10);

    await setImmediate(); // the next turn
    expect(refusedOf(1)).toBe(0);
    now += 10_000; // a machine that stands still
    expect(refusedOf(256)).toBe(1);
  });
});
