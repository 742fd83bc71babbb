import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountId } from "../../../adapters/contracts/support/builders.js";
import { expectError } from "../../support/error-answer.js";
import { HttpService } from "../../support/http-service.js";

describe("every answer of the HTTP server", () => {
  let service: HttpService;

  beforeAll(async () => {
    service = await HttpService.start();
  });
  afterAll(() => service.end());

  it("returns the client's request id if it is safe for logs, otherwise a new one", async () => {
    const idFor = async (id: string) =>
      (await fetch(`${service.url}/healthz`, { headers: { "x-request-id": id } })).headers.get("x-request-id");
    expect(await idFor("Job-7.a_b")).toBe("Job-7.a_b");
    expect(await idFor("i".repeat(128))).toBe("i".repeat(128));
    for (const unfit of ["", "two words", "i".repeat(129), "<script>", "ä"]) {
      expect(await idFor(unfit)).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it.each([
    ["GET", "/api/v1/credits/"],
    ["OPTIONS", "/api/v1/nowhere"],
    ["PUT", "/api/v1/panoramas/"],
    ["PUT", "/api/v1/nowhere", Buffer.alloc(1_000_000)],
  ])(
    "has status 404 and the error body for the unknown route %s %s",
    async (method, path, body?: Buffer<ArrayBuffer>) => {
      await expectError(await fetch(service.url + path, { method, ...(body && { body }) }), 404, "not_found");
      expect(service.finished.at(-1)).toMatchObject({ method, route: "unknown", status: 404 });
    },
  );

  it.each([
    ["PUT", "/panoramas", "POST, GET, HEAD, OPTIONS", Buffer.alloc(1_000_000)],
    ["DELETE", "/panoramas?limit=5", "POST, GET, HEAD, OPTIONS"],
    ["PATCH", "/panoramas/pan_1", "GET, HEAD, DELETE, OPTIONS"],
    ["GET", "/panoramas/pan_1/cancel", "POST, OPTIONS"],
    ["HEAD", "/images", "POST, OPTIONS"],
    ["POST", "/credits/entries", "GET, HEAD, OPTIONS"],
    ["PROPFIND", "/openapi.json", "GET, HEAD, OPTIONS"],
  ])("has status 405 and Allow for %s %s, and 204 for OPTIONS", async (method, path, allow, body?) => {
    const url = `${service.url}/api/v1${path}`;
    const response = await fetch(url, { method, ...(body && { body }) });
    expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
    expect(service.finished.at(-1)).toMatchObject({ status: 405, error: "invalid_request" });
    const text = await response.text();
    expect(text).toEqual(
      method === "HEAD" ? "" : expect.stringContaining(`This path has no ${method}, only ${allow}.`),
    );
    const asked = await fetch(url, { method: "OPTIONS" });
    expect([asked.status, asked.headers.get("allow"), await asked.text()]).toEqual([204, allow, ""]);
  });

  it("reaches the observer with the route pattern and without secrets", async () => {
    const customer = await service.customer();
    const id = await service.created(customer);
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const headers = { "x-request-id": "mine", traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    await service.request(`/panoramas/${id}?secret=1`, customer, { headers });
    expect(service.finished.at(-1)).toEqual({
      requestId: "mine",
      traceId,
      method: "GET",
      route: "/api/v1/panoramas/:id",
      status: 200,
      seconds: expect.any(Number),
      accountId: customer.accountId,
      keyId: expect.stringMatching(/^key_/),
      aborted: false,
    });
    await service.request(`/panoramas/${id}/cancel`, customer, { method: "POST" });
    expect(service.finished.at(-1)).toMatchObject({ method: "POST", network: "127.0.0.1" });
    await service.request("/credits", { ...customer, key: "sk-wrong" });
    expect(service.finished.at(-1)).toMatchObject({ status: 401, error: "invalid_api_key", network: "127.0.0.1" });
  });

  it("is 429 after many wrong keys of one network, and reaches the observer with its error", async () => {
    const guess = (n: number) => service.request("/credits", { accountId: accountId(1), key: `sk-wrong-${n}` });
    for (let n = 0; (await guess(n)).status === 401; n++);
    expect(service.finished.at(-1)).toMatchObject({ status: 429, error: "rate_limited" });
  });
});
