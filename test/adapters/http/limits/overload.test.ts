import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { accountId } from "../../../../adapters/contracts/support/builders.js";
import { Overload } from "../../../../adapters/http/limits/overload.js";
import type { SentRequest } from "../../../../adapters/http/request-source.js";
import { parseTrustedProxies } from "../../../../adapters/http/requests/client-address.js";
import { Senders } from "../../../../adapters/http/requests/senders.js";
import { expectError } from "../../../support/error-answer.js";
import { A_CREATION, HttpService } from "../../../support/http-service.js";
import { RawConnection } from "../../../support/raw-connection.js";

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
    expect(service.calls.create).toBe(0);
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
    const overload = new Overload(() => false, new Senders([]));
    const refusedOf = (requests: number) =>
      Array.from({ length: requests }, () => overload.refuses("read", from("192.0.2.1"))).filter((refused) => refused)
        .length;
    expect(refusedOf(300)).toBe(0); // in no time
    now += 21;
    expect(refusedOf(10)).toBe(10);

    await setImmediate(); // the next turn
    expect(refusedOf(1)).toBe(0);
    now += 10_000; // a machine that stands still
    expect(refusedOf(256)).toBe(1);
  });

  it("refuses the sender of nearly all requests of a long turn, and serves the others", () => {
    let now = 1_000;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const overload = new Overload(() => false, new Senders([]));
    for (let n = 0; n < 500; n += 1) overload.refuses("read", from("192.0.2.1"));
    now += 21;
    expect(overload.refuses("read", from("192.0.2.1"))).toBe(true);
    for (const host of [2, 3, 4]) expect(overload.refuses("read", from(`192.0.2.${host}`))).toBe(false);
    expect(overload.refuses("read", from("192.0.2.1"))).toBe(true);
  });

  it("refuses all senders when all hold the same share", () => {
    let now = 1_000;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const overload = new Overload(() => false, new Senders([]));
    for (let n = 0; n < 500; n += 1) overload.refuses("read", from(`192.0.2.${n % 250}`));
    now += 21;
    for (let n = 0; n < 250; n += 1) expect(overload.refuses("read", from(`192.0.2.${n}`))).toBe(true);
  });

  it("counts an authenticated key by account, and other requests by network", () => {
    const senders = new Senders(parseTrustedProxies("10.0.0.1") ?? []);
    senders.learn(hash("sha256", "sk-known"), accountId(1));
    const sent = (headers: Record<string, string>) => senders.of(from("10.0.0.1", headers));
    expect(sent({ authorization: "Bearer sk-known" })).toBe(accountId(1));
    expect(sent({ "x-api-key": "sk-known" })).toBe(accountId(1));
    for (const headers of [
      {},
      { "x-api-key": "sk-other" },
      { "x-api-key": "sk-other", authorization: "Bearer sk-known" },
    ]) {
      expect(sent({ ...headers, "x-forwarded-for": "203.0.113.7" })).toBe("network 203.0.113.7");
    }
  });
});

describe("the HTTP server while one client keeps it busy", () => {
  let service: HttpService;
  afterEach(() => service.end());

  it("refuses that client's creations, and serves another client's", async () => {
    let waiting = false;
    service = await HttpService.start({ isDatabaseOverloaded: (kind) => waiting && kind === "write" });
    const [hostile, other] = [await service.customer(), await service.customer()];
    for (const customer of [hostile, other]) expect((await service.request("/credits", customer)).status).toBe(200);
    const body =
      "POST /api/v1/images HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\ncontent-type: multipart/form-data; boundary=x\r\n";
    const file = '--x\r\ncontent-disposition: form-data; name="files"; filename="a.jpg"\r\n\r\n\xff\xd8\xff';
    const busy = await Promise.all(Array.from({ length: 9 }, () => RawConnection.open(service.port)));
    for (const connection of busy) connection.send(`${body}x-api-key: ${hostile.key}\r\n\r\n${file}`);
    await expect.poll(() => service.calls.checkUpload).toBe(busy.length);

    waiting = true;
    expect((await service.create(hostile, A_CREATION)).status).toBe(429);
    expect((await service.create(other, A_CREATION)).status).toBe(202);
    for (const connection of busy) connection.socket.destroy();
  });
});

const from = (peerAddress: string, headers: Readonly<Record<string, string>> = {}): SentRequest => ({
  peerAddress,
  header: (name) => headers[name],
});
