import { rm } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApiKey } from "../../../application/accounts/api-keys.js";
import { expectError } from "../../support/error-answer.js";
import { type Customer, HttpService } from "../../support/http-service.js";
import { RawConnection } from "../../support/raw-connection.js";

const ROUTES = [
  ["POST", "/panoramas", "write"],
  ["GET", "/panoramas", "read"],
  ["GET", "/panoramas/some-id", "read"],
  ["POST", "/images", "write"],
  ["GET", "/credits", "read"],
  ["GET", "/credits/entries", "read"],
  ["GET", "/abilities", "read"],
] as const;

const LIMITS = { write: 10, read: 60 };

describe("authentication and rate limits", () => {
  let service: HttpService;
  let customer: Customer;

  beforeEach(async () => {
    service = await HttpService.start();
    customer = await service.customer();
  });
  afterEach(() => service.end());

  const send = (method: string, path: string, headers: Record<string, string>) =>
    fetch(`${service.url}/api/v1${path}`, { method, headers, ...(method === "POST" && { body: "{}" }) });
  const useCasesReached = () => Object.values(service.calls).reduce((sum, calls) => sum + calls, 0);

  describe.each(ROUTES)("of %s %s", (method, path, kind) => {
    it("answer 401 without a valid API key, before any use case runs", async () => {
      const unknown = `sk-${"x".repeat(43)}`;
      for (const headers of [
        {},
        { authorization: "Bearer" },
        { authorization: "Bearer " },
        { authorization: `Bearer ${unknown}` },
        { authorization: customer.key },
        { authorization: `Basic ${customer.key}` },
        { authorization: `Bearer ${customer.key} ${customer.key}` },
        { "x-api-key": unknown },
        { "x-api-key": `Bearer ${customer.key}` },
        { "x-api-key": customer.key.slice(0, -1) },
      ]) {
        const response = await send(method, path, headers);
        await expectError(response, 401, "invalid_api_key");
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
        expect(response.headers.has("ratelimit")).toBe(false);
      }
      expect(useCasesReached()).toBe(0);
    });

    it("answer 401 to two different API keys, and accept the same key twice", async () => {
      const { key } = customer;
      const other = (await service.customer()).key;
      const authorization = `Bearer ${key}`;
      await expectError(await send(method, path, { authorization, "x-api-key": other }), 401, "invalid_api_key");
      expect((await send(method, path, { authorization, "x-api-key": key })).status).not.toBe(401);
    });

    it("answer 401 to a header that is sent again with another API key, and accept the same one", async () => {
      const [key, other] = [customer.key, (await service.customer()).key];
      const answerTo = async (...headers: string[]): Promise<string> => {
        const connection = await RawConnection.open(service.port);
        const lines = [`${method} /api/v1${path} HTTP/1.1`, "host: x", "content-length: 0", ...headers, "", ""];
        connection.send(lines.join("\r\n"));
        const answer = await connection.response();
        connection.close();
        return answer;
      };
      const bearer = (secret: string): string => `authorization: Bearer ${secret}`;
      for (const headers of [
        [bearer(other), bearer(key)],
        [bearer(key), bearer("wrong")],
        ["authorization: Basic abc", bearer(key)],
        [bearer(key), "Authorization: Digest abc", `x-api-key: ${key}`],
        [`x-api-key: ${key}`, `X-API-Key: ${other}`],
      ]) {
        const answer = await answerTo(...headers);
        expect(answer).toMatch(/^HTTP\/1\.1 401 /);
        expect(answer).toContain('"code":"invalid_api_key","message":"');
        expect(answer).toContain(" was sent more than once with different values. Send it once, with one API key.");
      }
      expect(useCasesReached()).toBe(0);
      expect(await answerTo(bearer(key), bearer(key))).not.toMatch(/^HTTP\/1\.1 401 /);
      expect(await answerTo(`x-api-key: ${key}`, `x-api-key: ${key}`)).not.toMatch(/^HTTP\/1\.1 401 /);
      expect(await answerTo('authorization: Digest a="b", c="d"', `x-api-key: ${key}`)).not.toMatch(/^HTTP\/1\.1 401 /);
    });

    it("accept the API key as Bearer in any letter case, and as x-api-key", async () => {
      const { key } = customer;
      for (const headers of [
        { authorization: `Bearer ${key}` },
        { authorization: `bearer ${key}` },
        { authorization: `BEARER  ${key}` },
        { "x-api-key": key },
      ]) {
        expect((await send(method, path, headers)).status).not.toBe(401);
      }
    });

    it("answer 401 to a revoked API key", async () => {
      const [key] = await service.keys.list(customer.accountId);
      await service.keys.revoke(key!.id, service.clock.now());
      await expectError(await send(method, path, { "x-api-key": customer.key }), 401, "invalid_api_key");
    });

    it(`admit ${LIMITS[kind]} ${kind}s a minute and report the rest, then answer 429 with retry-after and run no use case`, async () => {
      const limit = LIMITS[kind];
      for (let n = 1; n <= limit; n++) {
        const response = await send(method, path, { "x-api-key": customer.key });
        expect(response.status).not.toBe(429);
        expect(response.headers.get("ratelimit-policy")).toBe(`"${kind}";q=${limit};w=60`);
        expect(response.headers.get("ratelimit")).toBe(`"${kind}";r=${limit - n};t=60`);
      }
      const reached = useCasesReached();
      await service.clock.advance(20_500);
      const response = await send(method, path, { "x-api-key": customer.key });
      expect(response.headers.get("retry-after")).toBe("40");
      expect(response.headers.get("ratelimit-policy")).toBe(`"${kind}";q=${limit};w=60`);
      expect(response.headers.get("ratelimit")).toBe(`"${kind}";r=0;t=40`);
      await expectError(response, 429, "rate_limited");
      expect(useCasesReached()).toBe(reached);

      await service.clock.advance(39_500);
      expect((await send(method, path, { "x-api-key": customer.key })).status).not.toBe(429);
    });
  });

  it("count each API key separately, and reads and writes separately", async () => {
    for (let n = 0; n < 11; n++) await send("POST", "/panoramas", { "x-api-key": customer.key });
    expect((await send("POST", "/images", { "x-api-key": customer.key })).status).toBe(429);
    expect((await send("GET", "/credits", { "x-api-key": customer.key })).status).toBe(200);
    expect((await send("POST", "/images", { "x-api-key": (await service.customer()).key })).status).toBe(400);
  });

  it("apply the limit of tasks in processing to all keys of an account together", async () => {
    const second = (await createApiKey(service)(customer.accountId, "second"))._unsafeUnwrap().secret;
    for (let n = 0; n < 5; n++) await service.created(customer);
    const response = await service.create({ ...customer, key: second });
    await expectError(response, 429, "too_many_active_tasks");
  });

  it("limit the writes of an account that revokes its keys and makes new ones", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 25; n++) {
      const { key, secret } = (await createApiKey(service)(customer.accountId, "k"))._unsafeUnwrap();
      for (let write = 0; write < 10; write++) {
        statuses.push((await send("POST", "/panoramas", { "x-api-key": secret })).status);
      }
      await service.keys.revoke(key.id, service.clock.now());
    }
    expect(statuses).toEqual([...Array(200).fill(400), ...Array(50).fill(429)]);
    const refused = await send("POST", "/panoramas", { "x-api-key": customer.key });
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(refused.headers.get("ratelimit-policy")).toBe('"total";q=200;w=60');
    expect(await expectError(refused, 429, "rate_limited")).toBe(
      "This account has reached its limit of 200 writes per minute over all its API keys. Retry in 60 s.",
    );
    expect((await send("GET", "/credits", { "x-api-key": customer.key })).status).toBe(200);
    expect((await send("POST", "/images", { "x-api-key": (await service.customer()).key })).status).toBe(400);
  });

  it("do not count a refused request", async () => {
    for (let n = 0; n < 30; n++) await send("POST", "/images", { "x-api-key": customer.key });
    await service.clock.advance(60_000);
    expect((await send("POST", "/images", { "x-api-key": customer.key })).headers.get("ratelimit")).toBe(
      '"write";r=9;t=60',
    );
  });
});

describe("every answer of the HTTP server", () => {
  let service: HttpService;

  beforeEach(async () => {
    service = await HttpService.start();
  });
  afterEach(() => service.end());

  it("has the request id of the client if it is safe for logs, else a new one", async () => {
    const idFor = async (id: string) =>
      (await fetch(`${service.url}/healthz`, { headers: { "x-request-id": id } })).headers.get("x-request-id");
    expect(await idFor("Job-7.a_b")).toBe("Job-7.a_b");
    expect(await idFor("i".repeat(128))).toBe("i".repeat(128));
    for (const unfit of ["", "two words", "i".repeat(129), "<script>", "ä"]) {
      expect(await idFor(unfit)).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it.each([
    ["GET", "/api"],
    ["GET", "/api/v1"],
    ["GET", "/api/v1/"],
    ["GET", "/api/v2/credits"],
    ["GET", "/api/v1/credits/"],
    ["GET", "//api/v1/credits"],
    ["GET", "/api/v1/images"],
    ["PATCH", "/api/v1/panoramas/some-id"],
    ["GET", "/api/v1/panoramas/some-id/cancel"],
    ["PUT", "/api/v1/panoramas"],
    ["OPTIONS", "/api/v1/panoramas"],
    ["PATCH", "/api/v1/credits"],
  ])("is a 404 with the error body of the interface for the unknown route %s %s", async (method, path) => {
    await expectError(await fetch(service.url + path, { method }), 404, "not_found");
    expect(service.finished.at(-1)).toMatchObject({ method, route: "unknown", status: 404 });
  });

  it("is a 404 for an unknown route, also after a large body", async () => {
    const response = await fetch(`${service.url}/api/v1/nowhere`, { method: "PUT", body: Buffer.alloc(1_000_000) });
    await expectError(response, 404, "not_found");
  });

  it("to HEAD is the answer to GET without the body", async () => {
    const customer = await service.customer();
    const response = await service.request("/credits", customer, { method: "HEAD" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-length")).toBe("64");
    expect(await response.text()).toBe("");
  });

  it("is reported to the observer with the route pattern and without secrets", async () => {
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
      network: "127.0.0.1",
      aborted: false,
    });
    await service.request("/credits", { ...customer, key: "sk-wrong" });
    expect(service.finished.at(-1)).toMatchObject({ status: 401, error: "invalid_api_key" });
  });
});

describe("an unexpected error in the HTTP server", () => {
  const broken = async () => {
    throw new Error("password=hunter2 at db-7.internal");
  };

  it("gives 500 internal_error with the request id, is logged, and is not shown to the client", async () => {
    const service = await HttpService.start({ credits: { readTotals: broken }, panoramas: { create: broken } });
    const customer = await service.customer();
    for (const send of [() => service.request("/credits", customer), () => service.create(customer)]) {
      const response = await send();
      const id = response.headers.get("x-request-id") ?? "";
      const message = await expectError(response, 500, "internal_error");
      expect(message).toContain(id);
      expect(message).not.toContain("hunter2");
      expect(service.failures.at(-1)).toMatchObject({
        requestId: id,
        error: { message: expect.stringContaining("hunter2") },
      });
    }
    await service.end();
  });

  it("gives 500 internal_error if an upload cannot be written to disk", async () => {
    const service = await HttpService.start();
    await rm(`${service.folder}/uploads`, { recursive: true });
    const init = { method: "POST", body: new FormData() };
    const response = await service.request("/images", await service.customer(), init);
    expect(await expectError(response, 500, "internal_error")).not.toContain(service.folder);
    expect(String(service.failures.at(-1)?.error)).toContain("ENOENT");
    await service.end();
  });

  it("gives 500 internal_error if the storage is unavailable for an upload", async () => {
    const service = await HttpService.start();
    service.storage.available = false;
    const form = new FormData();
    form.append("files", new Blob([new Uint8Array([0xff, 0xd8, 0xff])], { type: "image/jpeg" }), "a.jpg");
    const response = await service.request("/images", await service.customer(), { method: "POST", body: form });
    expect(await expectError(response, 500, "internal_error")).not.toContain("switched off");
    expect(String(service.failures.at(-1)?.error)).toContain("switched off");
    await service.end();
  });
});
