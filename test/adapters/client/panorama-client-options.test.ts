import { readFile } from "node:fs/promises";
import { inspect } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { InvalidRequestError, PanoramaError } from "../../../adapters/client/panorama-error.js";
import { CLIENT_VERSION, userAgent } from "../../../adapters/client/service-url.js";
import type { Fault } from "../../support/fake-service.js";
import { aRequest, failureOf, setUpClient } from "./client-setup.js";

const on = setUpClient();
const BROKEN: Fault = { kind: "answer", status: 500, body: '{"error":{"code":"internal_error","message":"oops"}}' };

describe("the options of PanoramaClient", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("default to PANORAMA_BASE_URL and PANORAMA_API_KEY", async () => {
    vi.stubEnv("PANORAMA_BASE_URL", on.service.origin);
    vi.stubEnv("PANORAMA_API_KEY", ` ${on.service.apiKey}\r\n`); // as copied from a file
    const client = new PanoramaClient();
    expect(client.baseUrl).toBe(`${on.service.origin}/api/v1`);
    expect(await client.credits()).toEqual({ remaining_credits: 100 });
    expect(new PanoramaClient({ baseUrl: "https://other.test/api/v1/" }).baseUrl).toBe("https://other.test/api/v1");
  });

  it("throw for an invalid baseUrl, and reject the first call without a key", async () => {
    vi.stubEnv("PANORAMA_BASE_URL", undefined);
    vi.stubEnv("PANORAMA_API_KEY", undefined);
    expect(() => new PanoramaClient({ apiKey: "sk-1" })).toThrow(InvalidRequestError);
    expect(() => new PanoramaClient({ apiKey: "sk-1" })).toThrow(
      'baseUrl or PANORAMA_BASE_URL must be a complete http(s) URL, but is "".',
    );
    const error = await failureOf(new PanoramaClient({ baseUrl: on.service.origin }).credits());
    expect(error).toMatchObject({ name: "AuthenticationError", code: "invalid_api_key", status: undefined });
    expect(error.message).toContain("PANORAMA_API_KEY");
    expect(on.service.received).toEqual([]);
  });

  it("send default headers and a user agent, and neither replaces the key", async () => {
    const defaultHeaders = { "x-team": "sky", Authorization: "Bearer other", Accept: "text/html" };
    await on.clientWith(on.service.apiKey, { defaultHeaders }).credits();
    expect(on.service.received[0]?.headers).toMatchObject({
      "x-team": "sky",
      "user-agent": expect.stringMatching(/^panorama-client\/\d+\.\d+\.\d+ Node\.js\/\d+/),
      authorization: `Bearer ${on.service.apiKey}`,
      accept: "application/json",
    });
  });

  it("use the given fetch", async () => {
    const asked: string[] = [];
    const fetch = async (url: string) => {
      asked.push(url);
      return Response.json({ remaining_credits: 7 });
    };
    const client = new PanoramaClient({ baseUrl: "https://panorama.test", apiKey: "sk-1", fetch });
    expect(await client.credits()).toEqual({ remaining_credits: 7 });
    expect(asked).toEqual(["https://panorama.test/api/v1/credits"]);
  });

  it("limit the retries of all calls, and of one", async () => {
    on.service.failNext("GET", "/credits", ...Array<Fault>(4).fill(BROKEN));
    const client = on.clientWith(on.service.apiKey, { maxRetries: 2 });
    expect((await failureOf(client.credits())).name).toBe("ServiceError");
    expect(on.service.received).toHaveLength(3);
    await failureOf(client.credits({ maxRetries: 0 }));
    expect(on.service.received).toHaveLength(4);
  });

  it("limit the time of a call and of each attempt", async () => {
    const hangs = () => on.service.failNext("GET", "/credits", ...Array<Fault>(3).fill({ kind: "hang" }));
    const client = on.clientWith(on.service.apiKey, { timeout: 24_000, perAttemptTimeout: 8_000 });
    hangs();
    const start = on.clock.now().getTime();
    expect(await failureOf(client.credits())).toMatchObject({ name: "ConnectionError", code: "timeout" });
    expect(on.clock.now().getTime() - start).toBe(24_000);
    expect(on.service.received).toHaveLength(3);
  });

  it("log each attempt and each pause, and no key and no prompt", async () => {
    const lines: string[] = [];
    const logger = { debug: (line: string) => lines.push(line), warn: (line: string) => lines.push(`! ${line}`) };
    on.service.failNext("POST", "/panoramas", BROKEN);
    await on.clientWith(on.service.apiKey, { logger }).create(aRequest());
    expect(lines).toEqual([
      "panorama-client: POST /panoramas: internal_error after 0 ms",
      "! panorama-client: POST /panoramas: internal_error; again in 250 ms",
      "panorama-client: POST /panoramas: 202 after 0 ms",
    ]);
  });

  it("do not show the key when the client or an error is printed", async () => {
    const client = on.clientWith(on.service.apiKey);
    on.service.failNext("GET", "/credits", {
      kind: "answer",
      status: 401,
      body: JSON.stringify({ error: { code: "invalid_api_key", message: `no such key: ${on.service.apiKey}` } }),
    });
    const error = await failureOf(client.credits());
    for (const thing of [client, error]) {
      const printed = [inspect(thing, { depth: 9, showHidden: true }), JSON.stringify(thing), String(thing)].join();
      expect(printed).not.toContain(on.service.apiKey);
    }
    expect(String(error)).toBe("AuthenticationError: no such key: [api key]");
  });
});

describe("the calls of PanoramaClient", () => {
  it("return value and response with withResponse", async () => {
    const { data, response, requestId } = await on.client.credits().withResponse();
    expect([data, response.status, requestId]).toEqual([{ remaining_credits: 100 }, 200, "req-1"]);
    expect(on.service.received).toHaveLength(1);
    on.service.remainingCredits = 0;
    const error = await failureOf(on.client.create(aRequest()).withResponse());
    expect(error).toMatchObject({ code: "insufficient_credits", requestId: "req-1" });
  });

  it("reject with a PanoramaError whose class and members show the remedy", async () => {
    const error = await failureOf(on.client.read("unknown"));
    expect(error).toBeInstanceOf(PanoramaError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: "NotFoundError", code: "not_found", status: 404, taskId: "unknown" });
    const limited: Fault = {
      kind: "answer",
      status: 429,
      body: '{"error":{"code":"too_many_active_tasks","message":"busy"}}',
    };
    on.service.failNext("POST", "/panoramas", limited);
    expect((await failureOf(on.client.create(aRequest()))).name).toBe("RateLimitError");
  });

  it("keep the message of an unknown error code", async () => {
    const body = '{"error":{"code":"payment_required","message":"Pay first.","param":7}}';
    on.service.failNext("GET", "/credits", { kind: "answer", status: 418, body });
    expect(await failureOf(on.client.credits())).toMatchObject({
      code: "unexpected_answer",
      status: 418,
      message: "Pay first.",
      param: undefined,
    });
  });

  it("reject an idempotency key with invalid characters", async () => {
    const error = await failureOf(on.client.create(aRequest(), { idempotencyKey: "order\n17" }));
    expect(error).toMatchObject({ name: "InvalidRequestError", param: "Idempotency-Key", idempotencyKey: "order\n17" });
    expect(on.service.received).toEqual([]);
  });
});

describe("the user agent", () => {
  it("names the client and where it runs; browsers send their own", async () => {
    expect(CLIENT_VERSION).toBe(JSON.parse(await readFile("package.json", "utf8")).version);
    const of = (agent: string) => userAgent({ navigator: { userAgent: agent } });
    expect(of("Deno/2.9.6")).toBe(`panorama-client/${CLIENT_VERSION} Deno/2.9.6`);
    expect(of("Cloudflare-Workers")).toBe(`panorama-client/${CLIENT_VERSION} Cloudflare-Workers`);
    expect(of("Mozilla/5.0 (X11)")).toBeUndefined();
    expect(userAgent({ process: { version: "v20.20.2" } })).toBe(`panorama-client/${CLIENT_VERSION} Node.js/20.20.2`);
    expect(userAgent({})).toBe(`panorama-client/${CLIENT_VERSION}`);
  });
});
