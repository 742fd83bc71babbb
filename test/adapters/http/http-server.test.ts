import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tlsCertificate } from "../../../adapters/http/servers/tls-certificate.js";
import { expectError } from "../../support/error-answer.js";
import { freePort } from "../../support/free-port.js";
import { type Customer, HttpService } from "../../support/http-service.js";
import { RawConnection } from "../../support/raw-connection.js";

describe("the operations endpoints", () => {
  let service: HttpService;

  beforeEach(async () => {
    service = await HttpService.start();
  });
  afterEach(() => service.end());

  it("GET /healthz answers 200 while the process runs", async () => {
    const response = await fetch(`${service.url}/healthz`);
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
  });

  it("GET /readyz answers 200 with every check if the service is ready", async () => {
    const response = await fetch(`${service.url}/readyz`);
    expect([response.status, await response.json()]).toEqual([
      200,
      { status: "ready", checks: [{ name: "database", ok: true, detail: "answers" }] },
    ]);
  });

  it("GET /readyz answers 503 with the names of the failing checks", async () => {
    const checks = [
      { name: "database", ok: false, detail: "connection refused" },
      { name: "storage", ok: true, detail: "answers" },
    ];
    service.checks = async () => checks;
    const response = await fetch(`${service.url}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      error: { code: "not_ready", message: "The service is not ready: database." },
      checks,
    });
  });

  it("GET /metrics answers in the Prometheus text format", async () => {
    const response = await fetch(`${service.url}/metrics`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await response.text()).toContain("# HELP");
  });
});

describe("starting the HTTP server", () => {
  it("rejects with one sentence if a port is in use", async () => {
    const service = await HttpService.start();
    await expect(HttpService.start({}, { port: service.port })).rejects.toThrow(
      `Port ${service.port} on 127.0.0.1 is in use. Stop the process that listens there, or choose another port.`,
    );
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    await expect(HttpService.start({}, { port })).rejects.toThrow("is in use");
    other.close();
    await service.end();
  });

  it("closes the main port if the TLS port is in use", async () => {
    const folder = await mkdtemp(join(tmpdir(), "panorama-tls-"));
    const certificate = await tlsCertificate(folder, "localhost", new Date());
    const first = await HttpService.start({}, { tls: { ...certificate, port: 0 } });
    const port = await freePort();
    const second = HttpService.start({}, { port, tls: { ...certificate, port: first.tlsPort } });
    await expect(second).rejects.toThrow(`Port ${first.tlsPort} on 127.0.0.1 is in use`);
    await expect(RawConnection.open(port)).rejects.toThrow("ECONNREFUSED");
    await first.end();
    await rm(folder, { recursive: true });
  });

  it("rejects with one sentence if the host is not an address of this machine", async () => {
    await expect(HttpService.start({}, { host: "192.0.2.1" })).rejects.toThrow(
      /^Cannot listen on 192\.0\.2\.1, port 0/,
    );
  });
});

describe("stopping the HTTP server", () => {
  let service: HttpService;
  let customer: Customer;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterEach(() => service.end());

  it("refuses new connections, is not ready on open ones, and answers requests in flight", async () => {
    const release = service.provider.hold("submit");
    const creation = service.create(customer);
    const old = await RawConnection.open(service.port);
    old.send("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    expect(await old.response()).toContain("200 OK");
    while (service.provider.started === 0) await new Promise((resolve) => setImmediate(resolve));

    const { port } = service;
    let stopped = false;
    const stopping = service.stop(10_000).then(() => {
      stopped = true;
    });
    await expect(RawConnection.open(port)).rejects.toThrow("ECONNREFUSED");
    old.send("GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n");
    const notReady = await old.response();
    expect(notReady).toContain("HTTP/1.1 503");
    expect(notReady).toContain("The service is stopping.");
    expect(stopped).toBe(false);

    release();
    expect((await creation).status).toBe(202);
    await stopping;
  });

  it("closes the connections of requests that are not answered by the deadline", async () => {
    service.provider.hold("submit");
    const creation = service.create(customer);
    creation.catch(() => {});
    while (service.provider.started === 0) await new Promise((resolve) => setImmediate(resolve));
    const begin = performance.now();
    await service.stop(200);
    expect(performance.now() - begin).toBeGreaterThanOrEqual(190);
    await expect(creation).rejects.toThrow("fetch failed");
  });

  it("answers requests on a proxy's open connections for a while, and closes each connection", async () => {
    const connections = await Promise.all([1, 2].map(() => RawConnection.open(service.port)));
    const [used, kept] = connections as [RawConnection, RawConnection];
    for (const connection of connections) {
      connection.send("GET /healthz HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 192.0.2.1\r\n\r\n");
      expect(await connection.response()).toContain("200 OK");
    }
    const begin = performance.now();
    const stopping = service.stop(10_000, 300);
    used.send("POST /api/v1/panoramas HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n");
    expect(await used.response()).toMatch(/^HTTP\/1\.1 401 .*\r\nconnection: close\r\n/is);
    await stopping;
    expect(performance.now() - begin).toBeGreaterThanOrEqual(290);
    kept.close();
  });

  it("resolves immediately if nothing is in flight, also with idle connections", async () => {
    await fetch(`${service.url}/healthz`); // fetch keeps its connection open
    const begin = performance.now();
    await service.stop(60_000, 60_000);
    expect(performance.now() - begin).toBeLessThan(30_000);
  });
});

describe("an HTTP server without assets and temporary images", () => {
  it("answers 404 with the error body of the interface for their paths", async () => {
    const service = await HttpService.start({ temporaryImage: undefined });
    await expectError(await fetch(`${service.url}/generations/x`), 404, "not_found");
    await expectError(await fetch(`${service.url}/assets/panoramas/x.jpg`), 404, "not_found");
    await service.end();
  });
});
