import { ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { offerOf } from "../../../adapters/client/offer.js";
import { PanoramaClient } from "../../../adapters/client/panorama-client.js";
import { parseServiceUrl } from "../../../adapters/client/service-url.js";
import { aCreationRequest, noon, secondsAfter } from "../../../adapters/contracts/builders.js";
import { parseCreationRequest } from "../../../domain/creation-request.js";
import { PANORAMA_POLICY } from "../../../domain/panorama-policy.js";
import { FakeService, type Fault } from "../../support/fake-service.js";
import { pngBytes } from "../../support/image-bytes.js";
import { SkippingClock } from "../../support/skipping-clock.js";

let service: FakeService;
let clock: SkippingClock;
let client: PanoramaClient;

const clientWith = (apiKey: string) =>
  new PanoramaClient({ baseUrl: parseServiceUrl(service.origin)._unsafeUnwrap(), apiKey }, clock, () => 0.5);

const aRequest = (prompt = "a quiet harbour") => parseCreationRequest({ prompt, resolution: "1k" })._unsafeUnwrap();
/** What the fake service says about it. */
const A_HARBOUR_SHOWN = {
  created_at: "2026-01-01T12:00:00.000Z",
  resolution: "1k",
  visibility: "private",
  prompt: "a quiet harbour",
  image_urls: [],
  metadata: {},
};

beforeEach(async () => {
  service = await FakeService.start();
  clock = new SkippingClock(() => service.hanging());
  client = clientWith(service.apiKey);
});
afterEach(() => service.stop());

describe("PanoramaClient.creditTotals", () => {
  const answer = (body: object): Fault => ({ kind: "answer", status: 200, body: JSON.stringify(body) });

  it("returns remaining, reserved and spent credits, which credits() reduces to the balance", async () => {
    const totals = { remaining_credits: 90, reserved_credits: 4, spent_credits: 6 };
    service.failNext("GET", "/credits", answer({ ...totals, added_later: true }), answer(totals));
    expect((await client.creditTotals())._unsafeUnwrap()).toEqual(totals);
    expect((await client.credits())._unsafeUnwrap()).toBe(90);
  });

  it("returns the balance alone of a service of version 1.0", async () => {
    service.failNext("GET", "/credits", answer({ remaining_credits: 90 }));
    expect((await client.creditTotals())._unsafeUnwrap()).toEqual({ remaining_credits: 90 });
  });
});

describe("PanoramaClient.create", () => {
  it("sends the request with the API key and a new idempotency key", async () => {
    expect((await client.create(aRequest()))._unsafeUnwrap()).toEqual({
      id: "task-1",
      status: "processing",
      credits_charged: 4,
      ...A_HARBOUR_SHOWN,
    });
    await client.create(aRequest());
    const [first, second] = service.requests("POST", "/panoramas");
    expect(JSON.parse(String(first?.body))).toEqual({
      prompt: "a quiet harbour",
      resolution: "1k",
      visibility: "private",
    });
    expect(first?.headers["idempotency-key"]).toMatch(/^"[0-9a-f-]{36}"$/);
    expect(first?.headers["idempotency-key"]).not.toBe(second?.headers["idempotency-key"]);
    expect(service.tasks).toHaveLength(2);
  });

  it("sends the most that the panorama may cost", async () => {
    await client.create(aRequest(), { maxCredits: 4 });
    await client.create(aRequest(), { maxCredits: undefined });
    const bodies = service.requests("POST", "/panoramas").map(({ body }) => JSON.parse(String(body)));
    expect(bodies.map((body) => body.max_credits)).toEqual([4, undefined]);
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
      service.failNext("POST", "/panoramas", fault);
      expect((await client.create(aRequest()))._unsafeUnwrap().id).toBe("task-1");
      const keys = service.requests("POST", "/panoramas").map(({ headers }) => headers["idempotency-key"]);
      expect(keys).toHaveLength(2);
      expect(keys[0]).toBe(keys[1]);
      expect(service.tasks).toHaveLength(1);
      expect(service.remainingCredits).toBe(96);
    });
  }

  it("honours retry-after, and otherwise backs off with jitter", async () => {
    const limited = { ...onceOnly["a rate limit with retry-after"] } as Fault;
    const broken = onceOnly["an internal error"] as Fault;
    service.failNext("POST", "/panoramas", limited, broken, broken, broken);
    expect((await client.create(aRequest())).isOk()).toBe(true);
    expect(clock.pauses).toEqual([3000, 500, 1000, 2000]);
  });

  it("reports after its timeout that it may have been accepted, and can be repeated with the same key", async () => {
    service.failNext("POST", "/panoramas", ...Array<Fault>(3).fill({ kind: "accept-and-hang" }));
    const start = clock.now().getTime();
    const lost = (await client.create(aRequest(), { idempotencyKey: "mine" }))._unsafeUnwrapErr();
    expect(lost).toMatchObject({ code: "timeout", status: undefined, mayHaveBeenAccepted: true });
    expect(clock.now().getTime() - start).toBeLessThanOrEqual(40_000);

    expect((await client.create(aRequest(), { idempotencyKey: "mine" }))._unsafeUnwrap().id).toBe("task-1");
    expect(service.tasks).toHaveLength(1);
  });

  it("still reports a possible charge if a retry is refused", async () => {
    service.failNext(
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
    expect((await client.create(aRequest()))._unsafeUnwrapErr()).toMatchObject({
      code: "rate_limited",
      retryAfterSeconds: 60,
      mayHaveBeenAccepted: true,
    });
  });

  it("sends a refused request only once, and returns the error of the service", async () => {
    service.remainingCredits = 3;
    expect((await client.create(aRequest()))._unsafeUnwrapErr()).toEqual({
      code: "insufficient_credits",
      status: 402,
      message: "refused: insufficient_credits",
      requestId: "req-1",
      retryAfterSeconds: undefined,
      mayHaveBeenAccepted: false,
    });
    expect(service.requests("POST", "/panoramas")).toHaveLength(1);
  });

  it("does not retry after upstream_error or a redirect", async () => {
    service.failNext(
      "POST",
      "/panoramas",
      { kind: "answer", status: 502, body: '{"error":{"code":"upstream_error","message":"no"}}' },
      { kind: "answer", status: 308, headers: { location: "https://elsewhere.test/" }, body: "" },
    );
    expect((await client.create(aRequest()))._unsafeUnwrapErr()).toMatchObject({
      code: "upstream_error",
      mayHaveBeenAccepted: false,
    });
    const redirected = (await client.create(aRequest()))._unsafeUnwrapErr();
    expect(redirected).toMatchObject({ code: "unexpected_answer", status: 308, mayHaveBeenAccepted: false });
    expect(redirected.message).toContain("https://elsewhere.test/");
    expect(service.tasks).toHaveLength(0);
  });

  it("reports no possible charge if no connection was made", async () => {
    await service.stop();
    expect((await client.create(aRequest()))._unsafeUnwrapErr()).toMatchObject({
      code: "network_error",
      mayHaveBeenAccepted: false,
    });
    service = await FakeService.start();
  });

  it("reports within two seconds that nothing listens, although it tries four times", async () => {
    const { apiKey } = service;
    const baseUrl = parseServiceUrl(service.origin)._unsafeUnwrap();
    await service.stop();
    const start = clock.now().getTime();
    for (const random of [0, 0.5, 0.999]) {
      clock.pauses.length = 0;
      const offline = new PanoramaClient({ baseUrl, apiKey }, clock, () => random);
      const error = (await offline.credits())._unsafeUnwrapErr();
      expect(error).toEqual({
        code: "network_error",
        message: `${baseUrl} cannot be reached: ECONNREFUSED.`,
        mayHaveBeenAccepted: false,
      });
      expect(clock.pauses).toEqual([250, 500, 1000].map((longest) => longest * (0.5 + random / 2)));
    }
    expect(clock.now().getTime() - start).toBeLessThan(3 * 2_000);
    service = await FakeService.start();
  });

  it("ends when the caller aborts it", async () => {
    service.failNext("POST", "/panoramas", { kind: "accept-and-hang" });
    const abort = new AbortController();
    const withSystemClock = new PanoramaClient({
      baseUrl: parseServiceUrl(service.origin)._unsafeUnwrap(),
      apiKey: service.apiKey,
    });
    const created = withSystemClock.create(aRequest(), { signal: abort.signal });
    await service.hanging();
    abort.abort();
    expect((await created)._unsafeUnwrapErr()).toMatchObject({ code: "aborted", mayHaveBeenAccepted: true });
    expect(service.requests("POST", "/panoramas")).toHaveLength(1);
  });
});

describe("PanoramaClient.waitUntilDone", () => {
  it("asks the service to wait, reports progress, and returns the finished task", async () => {
    service.readsWhileProcessing = 3;
    const { id } = (await client.create(aRequest()))._unsafeUnwrap();
    const seen: string[] = [];
    const done = await client.waitUntilDone(id, { seconds: 60, onProgress: ({ task }) => seen.push(task.status) });
    expect(done._unsafeUnwrap()).toMatchObject({ status: "succeeded", output: { storage_status: "saved" } });
    expect(seen).toEqual(["processing", "processing", "processing"]);
    expect(service.requests("GET", `/panoramas/${id}`)[0]?.headers.prefer).toBe("wait=10");
  });

  it("polls at most every two seconds if the service does not wait", async () => {
    service.readsWhileProcessing = 3;
    const { id } = (await client.create(aRequest()))._unsafeUnwrap();
    await client.waitUntilDone(id, { seconds: 60 });
    expect(clock.pauses).toEqual([2250, 2250, 2250]);
  });

  it("returns the unfinished task when the time is over", async () => {
    service.readsWhileProcessing = 1000;
    const { id } = (await client.create(aRequest()))._unsafeUnwrap();
    const start = clock.now().getTime();
    expect((await client.waitUntilDone(id, { seconds: 20 }))._unsafeUnwrap().status).toBe("processing");
    expect(clock.now().getTime() - start).toBeLessThanOrEqual(20_000);
  });

  it("continues after an outage of the service", async () => {
    const { id } = (await client.create(aRequest()))._unsafeUnwrap();
    service.failNext("GET", "/panoramas", { kind: "accept-and-drop" }, { kind: "answer", status: 503, body: "busy" });
    expect((await client.waitUntilDone(id, { seconds: 60 }))._unsafeUnwrap().status).toBe("succeeded");
  });

  it("tries longer than other calls while nothing listens, because the service has the task", async () => {
    const { id } = (await client.create(aRequest()))._unsafeUnwrap();
    await service.stop();
    expect((await client.waitUntilDone(id, { seconds: 60 }))._unsafeUnwrapErr().code).toBe("network_error");
    expect(clock.pauses).toEqual([250, 500, 1000, 2000, 4000]);
    service = await FakeService.start();
  });

  it("returns a failed generation as a task, not as an error", async () => {
    const { id } = (await client.create(aRequest("a storm test:fail")))._unsafeUnwrap();
    expect((await client.waitUntilDone(id, { seconds: 60 }))._unsafeUnwrap()).toMatchObject({
      status: "failed",
      error: { code: "generation_failed" },
    });
  });
});

describe("the other calls of PanoramaClient", () => {
  it("read the balance and the list", async () => {
    await client.create(aRequest());
    expect((await client.credits())._unsafeUnwrap()).toBe(96);
    expect((await client.list({ limit: 5, cursor: "c&d" }))._unsafeUnwrap()).toEqual({
      data: [{ id: "task-1", status: "processing", credits_charged: 4, ...A_HARBOUR_SHOWN }],
      next_cursor: null,
    });
    expect(service.requests("GET", "/panoramas").at(-1)?.path).toBe("/api/v1/panoramas?limit=5&cursor=c%26d");
  });

  it("send seed and metadata, and return what the service says about a task", async () => {
    const given = { seed: 7, metadata: { order: "A-17" } };
    const created = (await client.create(aCreationRequest({ prompt: "a lake", ...given })))._unsafeUnwrap();
    const shown = {
      id: "task-1",
      credits_charged: 4,
      created_at: "2026-01-01T12:00:00.000Z",
      resolution: "1k",
      visibility: "private",
      prompt: "a lake",
      image_urls: [],
      ...given,
    };
    expect(created).toEqual({ ...shown, status: "processing" });
    expect(JSON.parse(String(service.requests("POST", "/panoramas")[0]?.body))).toMatchObject(given);
    service.readsWhileProcessing = 0;
    expect((await client.read("task-1"))._unsafeUnwrap()).toMatchObject({
      ...shown,
      status: "succeeded",
      finished_at: "2026-01-01T12:00:30.000Z",
      output: { thumbnail_url: expect.stringContaining("-thumbnail.webp") },
    });
  });

  it("accept the answers of an older service, which says nothing about the creation", async () => {
    const body = JSON.stringify({ id: "t", status: "processing", credits_charged: 4 });
    service.failNext("GET", "/panoramas/t", { kind: "answer", status: 200, body });
    expect((await client.read("t"))._unsafeUnwrap()).toEqual(JSON.parse(body));
  });

  it("cancel a task and return it, also after a lost answer", async () => {
    await client.create(aRequest());
    service.failNext("POST", "/panoramas/task-1/cancel", { kind: "accept-and-drop" });
    expect((await client.cancel("task-1"))._unsafeUnwrap()).toMatchObject({
      id: "task-1",
      status: "failed",
      error: { message: "The panorama was canceled." },
    });
    expect(service.requests("POST", "/panoramas/task-1/cancel")).toHaveLength(2);
    expect((await client.cancel("unknown"))._unsafeUnwrapErr()).toMatchObject({ code: "not_found", status: 404 });
  });

  it("delete a panorama, also after a lost answer", async () => {
    await client.create(aRequest());
    service.failNext("DELETE", "/panoramas/task-1", { kind: "accept-and-drop" });
    expect(await client.delete("task-1")).toEqual(ok(undefined));
    expect(service.requests("DELETE", "/panoramas/task-1")).toHaveLength(2);
    expect((await client.delete("unknown"))._unsafeUnwrapErr()).toMatchObject({ code: "not_found", status: 404 });
  });

  it("filter the list", async () => {
    await client.list({
      status: "failed",
      visibility: "public",
      createdAfter: noon,
      createdBefore: secondsAfter(noon, 1),
      metadata: { "a&b": "c=d" },
    });
    const { pathname, searchParams } = new URL(service.requests("GET", "/panoramas")[0]?.path ?? "", service.origin);
    expect(pathname).toBe("/api/v1/panoramas");
    expect([...searchParams]).toEqual([
      ["status", "failed"],
      ["visibility", "public"],
      ["created_after", "2026-01-01T12:00:00.000Z"],
      ["created_before", "2026-01-01T12:00:01.000Z"],
      ["metadata.a&b", "c=d"],
    ]);
  });

  it("upload images in their order, with a content length", async () => {
    const urls = (
      await client.upload([{ bytes: pngBytes(100), name: "a.png" }, { bytes: pngBytes(200) }])
    )._unsafeUnwrap();
    expect(new Set(urls).size).toBe(2);
    const [upload] = service.requests("POST", "/images");
    expect(Number(upload?.headers["content-length"])).toBe(upload?.body.length);
    expect(upload?.body.toString("latin1")).toContain('filename="a.png"');
  });

  it("refuse an upload that breaks a rule of the service without sending it", async () => {
    const refused = async (images: Parameters<typeof client.upload>[0]) =>
      (await client.upload(images))._unsafeUnwrapErr();
    expect(await refused([])).toMatchObject({ code: "invalid_request" });
    expect(await refused(Array(6).fill({ bytes: pngBytes(20) }))).toMatchObject({ code: "invalid_request" });
    expect((await refused([{ bytes: pngBytes(11 * 1024 * 1024) }])).message).toContain("10 MiB");
    // Only the limits of the service were read, once for each upload that breaks the usual ones.
    const read = ["GET /api/v1/openapi.json", "GET /api/v1/openapi.json"];
    expect(service.received.map(({ method, path }) => `${method} ${path}`)).toEqual(read);
    expect((await refused([{ bytes: pngBytes(20), type: "image/jpeg" }])).message).toContain("image/png");
    expect(service.received).toHaveLength(2);
  });

  it("apply the limits of the service to uploads, and the usual ones to a service that describes none", async () => {
    const large = [{ bytes: pngBytes(11 * 1024 * 1024) }];
    const usual = offerOf(PANORAMA_POLICY);
    service.offer = { ...usual, uploads: { ...usual.uploads, file_bytes: 12 * 1024 * 1024 } };
    expect((await client.upload(large)).isOk()).toBe(true);
    service.offer = undefined;
    expect((await client.upload(large))._unsafeUnwrapErr().message).toContain("10 MiB");
  });

  it("read prices and limits from the description of the service", async () => {
    expect(await client.offer()).toEqual(ok(offerOf(PANORAMA_POLICY)));
    service.offer = undefined;
    expect(await client.offer()).toEqual(ok(undefined));
  });

  it("report unexpected_answer for an answer with HTML", async () => {
    const page: Fault = { kind: "answer", status: 200, headers: { "content-type": "text/html" }, body: "<html>" };
    service.failNext("GET", "/credits", page);
    expect((await client.credits())._unsafeUnwrapErr()).toMatchObject({ code: "unexpected_answer", status: 200 });
  });

  it("read no more than 8 MiB of an answer", async () => {
    const large: Fault = { kind: "answer", status: 200, body: `{"remaining_credits":1${" ".repeat(8 * 1024 * 1024)}}` };
    service.failNext("GET", "/credits", large);
    expect((await client.credits())._unsafeUnwrapErr()).toMatchObject({ code: "unexpected_answer", status: 200 });
  });

  it("never show the API key in an error, even if the service does, or if the key is unusable", async () => {
    const body = JSON.stringify({ error: { code: "invalid_api_key", message: `what is ${service.apiKey}?` } });
    service.failNext("GET", "/credits", { kind: "answer", status: 401, body });
    const shown = (await client.credits())._unsafeUnwrapErr();
    expect(shown.message).toBe("what is [api key]?");
    const unusable = (await clientWith("sk-secret\nwith a line break").credits())._unsafeUnwrapErr();
    expect(unusable.code).toBe("invalid_api_key");
    expect(unusable.message).not.toContain("secret");
  });
});

describe("PanoramaClient.listAll", () => {
  const ids = async (tasks: ReturnType<PanoramaClient["listAll"]>) => {
    const seen: string[] = [];
    for await (const task of tasks)
      seen.push(
        task.match(
          ({ id }) => id,
          ({ code }) => code,
        ),
      );
    return seen;
  };
  const pages = () => service.requests("GET", "/panoramas").map(({ path }) => path.replace("/api/v1/panoramas", ""));

  it("yields every task, newest first, and reads each page when the loop reaches it", async () => {
    for (let task = 1; task <= 5; task++) await client.create(aRequest());
    expect(await ids(client.listAll({ limit: 2 }))).toEqual(["task-5", "task-4", "task-3", "task-2", "task-1"]);
    expect(pages()).toEqual(["?limit=2", "?limit=2&cursor=2", "?limit=2&cursor=4"]);
  });

  it("reads pages of 100, and one page of an account without tasks", async () => {
    expect(await ids(client.listAll())).toEqual([]);
    expect(pages()).toEqual(["?limit=100"]);
  });

  it("sends no further request after the loop has ended", async () => {
    for (let task = 1; task <= 5; task++) await client.create(aRequest());
    for await (const task of client.listAll({ limit: 2 })) if (task._unsafeUnwrap().id === "task-4") break;
    expect(pages()).toEqual(["?limit=2"]);
  });

  it("ends with the error of the client, after its retries", async () => {
    for (let task = 1; task <= 3; task++) await client.create(aRequest());
    const tasks = client.listAll({ limit: 2 });
    expect([(await tasks.next()).value?.isOk(), (await tasks.next()).value?.isOk()]).toEqual([true, true]);
    const failure: Fault = {
      kind: "answer",
      status: 500,
      body: '{"error":{"code":"internal_error","message":"oops"}}',
    };
    service.failNext("GET", "/panoramas", ...Array<Fault>(6).fill(failure));
    expect((await tasks.next()).value?._unsafeUnwrapErr()).toMatchObject({ code: "internal_error", message: "oops" });
    expect(await tasks.next()).toEqual({ done: true, value: undefined });
    expect(pages()).toEqual(["?limit=2", ...Array(6).fill("?limit=2&cursor=2")]);
  });

  it("ends when the caller aborts it", async () => {
    await client.create(aRequest());
    expect(await ids(client.listAll({ signal: AbortSignal.abort() }))).toEqual(["aborted"]);
  });
});
