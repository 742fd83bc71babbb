import { describe, expect, it } from "vitest";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import type { Fault } from "../../support/fake-service.js";
import { A_HARBOUR_SHOWN, aRequest, failureOf, setUpClient } from "./client-setup.js";

const on = setUpClient();

describe("PanoramaClient.create", () => {
  it("sends the request with the API key and a new idempotency key", async () => {
    expect(await on.client.create(aRequest())).toEqual({
      id: "task-1",
      status: "processing",
      credits_charged: 4,
      ...A_HARBOUR_SHOWN,
    });
    await on.client.create(aRequest());
    const [first, second] = on.service.requests("POST", "/panoramas");
    expect(JSON.parse(String(first?.body))).toEqual({
      prompt: "a quiet harbour",
      resolution: "1k",
    });
    expect(first?.headers["idempotency-key"]).toMatch(/^"[0-9a-f-]{36}"$/);
    expect(first?.headers["idempotency-key"]).not.toBe(second?.headers["idempotency-key"]);
    expect(on.service.tasks).toHaveLength(2);
  });

  const onceOnly: Record<string, Fault> = {
    "a connection that is cut after the request was accepted": { kind: "accept-and-drop" },
    "a missing answer after the request was accepted": { kind: "accept-and-hang" },
    "a service that hangs before it accepts the request": { kind: "hang" },
    "an internal error": {
      kind: "answer",
      status: 500,
      body: '{"error":{"code":"internal_error","message":"oops"}}',
    },
    "an HTML error page of a proxy": {
      kind: "answer",
      status: 502,
      headers: { "content-type": "text/html" },
      body: "<h1>Bad</h1>",
    },
    "a rate limit with retry-after": {
      kind: "answer",
      status: 429,
      headers: { "retry-after": "3" },
      body: '{"error":{"code":"rate_limited","message":"slow down"}}',
    },
  };
  for (const [what, fault] of Object.entries(onceOnly)) {
    it(`creates one task, charged once, despite ${what}`, async () => {
      on.service.failNext("POST", "/panoramas", fault);
      expect((await on.client.create(aRequest())).id).toBe("task-1");
      const keys = on.service.requests("POST", "/panoramas").map(({ headers }) => headers["idempotency-key"]);
      expect(keys).toHaveLength(2);
      expect(keys[0]).toBe(keys[1]);
      expect(on.service.tasks).toHaveLength(1);
      expect(on.service.remainingCredits).toBe(96);
    });
  }

  it("honours retry-after, and otherwise backs off with jitter", async () => {
    const limited = { ...onceOnly["a rate limit with retry-after"] } as Fault;
    const broken = onceOnly["an internal error"] as Fault;
    on.service.failNext("POST", "/panoramas", limited, broken, broken, broken);
    await on.client.create(aRequest());
    expect(on.clock.pauses).toEqual([3000, 500, 1000, 2000]);
  });

  it("rejects at its timeout with mayHaveBeenAccepted, and can be repeated with the same key", async () => {
    on.service.failNext("POST", "/panoramas", ...Array<Fault>(3).fill({ kind: "accept-and-hang" }));
    const start = on.clock.now().getTime();
    const lost = await failureOf(on.client.create(aRequest(), { idempotencyKey: "mine" }));
    expect(lost).toMatchObject({ code: "timeout", status: undefined, mayHaveBeenAccepted: true });
    expect(on.clock.now().getTime() - start).toBeLessThanOrEqual(40_000);

    expect((await on.client.create(aRequest(), { idempotencyKey: "mine" })).id).toBe("task-1");
    expect(on.service.tasks).toHaveLength(1);
  });

  it("still reports a possible charge if a retry is refused", async () => {
    on.service.failNext(
      "POST",
      "/panoramas",
      { kind: "accept-and-drop" },
      {
        kind: "answer",
        status: 429,
        headers: { "retry-after": "60" },
        body: '{"error":{"code":"rate_limited","message":"slow down"}}',
      },
    );
    expect(await failureOf(on.client.create(aRequest()))).toMatchObject({
      code: "rate_limited",
      retryAfterSeconds: 60,
      mayHaveBeenAccepted: true,
    });
  });

  it("sends a refused request only once, and returns the error of the service", async () => {
    on.service.remainingCredits = 3;
    expect(await failureOf(on.client.create(aRequest()))).toMatchObject({
      name: "InsufficientCreditsError",
      code: "insufficient_credits",
      status: 402,
      message: "refused: insufficient_credits",
      requestId: "req-1",
      retryAfterSeconds: undefined,
      mayHaveBeenAccepted: false,
    });
    expect(on.service.requests("POST", "/panoramas")).toHaveLength(1);
  });

  it("does not retry after upstream_error or a redirect", async () => {
    on.service.failNext(
      "POST",
      "/panoramas",
      { kind: "answer", status: 502, body: '{"error":{"code":"upstream_error","message":"no"}}' },
      { kind: "answer", status: 308, headers: { location: "https://elsewhere.test/" }, body: "" },
    );
    expect(await failureOf(on.client.create(aRequest()))).toMatchObject({
      code: "upstream_error",
      mayHaveBeenAccepted: false,
    });
    const redirected = await failureOf(on.client.create(aRequest()));
    expect(redirected).toMatchObject({ code: "unexpected_answer", status: 308, mayHaveBeenAccepted: false });
    expect(redirected.message).toContain("https://elsewhere.test/");
    expect(on.service.tasks).toHaveLength(0);
  });

  it("reports no possible charge if no connection was made", async () => {
    await on.service.stop();
    expect(await failureOf(on.client.create(aRequest()))).toMatchObject({
      code: "network_error",
      message: `${on.client.baseUrl} cannot be reached: nothing accepts connections at ${new URL(on.client.baseUrl).host} (ECONNREFUSED).`,
      mayHaveBeenAccepted: false,
    });
    await on.startService();
  });

  it("sends nothing if the caller has aborted it before", async () => {
    const aborted = await failureOf(on.client.create(aRequest(), { signal: AbortSignal.abort() }));
    expect(aborted).toMatchObject({ name: "AbortedError", mayHaveBeenAccepted: false });
    expect(on.service.received).toEqual([]);
  });

  it("ends when the caller aborts it", async () => {
    on.service.failNext("POST", "/panoramas", { kind: "accept-and-hang" });
    const abort = new AbortController();
    const withSystemClock = new PanoramaClient({ baseUrl: on.service.origin, apiKey: on.service.apiKey });
    const created = withSystemClock.create(aRequest(), { signal: abort.signal });
    await on.service.hanging();
    abort.abort();
    expect(await failureOf(created)).toMatchObject({ code: "aborted", mayHaveBeenAccepted: true });
    expect(on.service.requests("POST", "/panoramas")).toHaveLength(1);
  });
});
