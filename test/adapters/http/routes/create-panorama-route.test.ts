import { gzipSync } from "node:zlib";
import { err } from "neverthrow";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { noon } from "../../../../adapters/contracts/support/builders.js";
import type { TaskId } from "../../../../domain/ids.js";
import { expectError } from "../../../support/error-answer.js";
import { A_CREATION, type Customer, HttpService } from "../../../support/http-service.js";

describe("POST /panoramas", () => {
  let service: HttpService;
  let customer: Customer;

  beforeAll(async () => {
    service = await HttpService.start();
  });
  beforeEach(async () => {
    service.provider.play({ submit: "accept" });
    customer = await service.customer();
  });
  afterAll(() => service.end());

  const credits = () => service.ledger.balance(customer.accountId);

  it.each([
    ["1k", 4],
    ["2k", 6],
    ["4k", 10],
  ])("accepts a %s task, reserves %i credits, and returns its location", async (resolution, cost) => {
    const response = await service.create(customer, { ...A_CREATION, resolution });
    expect(response.status).toBe(202);
    const body = (await response.json()) as { id: string };
    expect(body).toEqual({
      id: expect.any(String),
      status: "processing",
      credits_charged: cost,
      created_at: noon.toISOString(),
      resolution,
      visibility: "private",
      prompt: A_CREATION.prompt,
      image_urls: [],
      metadata: {},
    });
    expect(response.headers.get("location")).toBe(`/api/v1/panoramas/${body.id}`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.has("idempotent-replayed")).toBe(false);
    expect(await credits()).toBe(100 - cost);
  });

  it.each([
    ["a prompt of 3 characters", { prompt: "sea" }],
    ["three image URLs", { image_urls: [1, 2, 3].map((n) => `https://example.com/${n}.jpg`) }],
    ["a short prompt with an image URL", { prompt: "x", image_urls: ["https://example.com/a.jpg"] }],
    ["an empty prompt with an image URL", { prompt: "", image_urls: ["https://example.com/a.jpg"] }],
    ["an image URL of 2048 characters", { image_urls: [`https://example.com/${"a".repeat(2028)}`] }],
    ["visibility public", { prompt: "a lake", visibility: "public" }],
  ])("accepts %s", async (_, body) => {
    expect((await service.create(customer, { resolution: "1k", ...body })).status).toBe(202);
  });

  it.each([
    ["no resolution", { prompt: "a lake" }, "resolution: "],
    ["an unknown resolution", { prompt: "a lake", resolution: "8k" }, 'resolution: must be "1k", "2k" or "4k"'],
    ["neither prompt nor image URLs", { resolution: "1k" }, "request body: "],
    ["a prompt of 2 characters", { resolution: "1k", prompt: "ab" }, "prompt: must have at least 3 characters"],
    ["four image URLs", { resolution: "1k", image_urls: Array(4).fill("https://example.com/a") }, "image_urls: "],
    ["an http URL", { resolution: "1k", image_urls: ["http://example.com/a"] }, "image_urls[0]: "],
    [
      "an image URL of 2049 characters",
      { resolution: "1k", image_urls: [`https://example.com/${"a".repeat(2029)}`] },
      "image_urls[0]: must have at most 2048 characters",
    ],
    ["an unknown visibility", { ...A_CREATION, visibility: "secret" }, "visibility: "],
  ])("refuses %s with 400 and names the broken rule", async (_, body, message) => {
    const response = await service.create(customer, body);
    const { error } = (await response.clone().json()) as { error: { param?: string } };
    expect(await expectError(response, 400, "invalid_request")).toContain(message);
    expect(error.param).toBe(message.startsWith("request body") ? undefined : message.split(":")[0]);
    expect(await credits()).toBe(100);
  });

  it.each(["GZIP", "deflate", "br", "zstd"])("refuses a body with Content-Encoding: %s", async (coding) => {
    const body = gzipSync(JSON.stringify(A_CREATION));
    const init = { method: "POST", body, headers: { "content-encoding": coding } };
    for (const path of ["/panoramas", "/images"]) {
      if (path === "/images") Object.assign(init.headers, { "content-type": "multipart/form-data; boundary=x" });
      expect(await expectError(await service.request(path, customer, init), 400, "invalid_request")).toBe(
        `Content-Encoding: is "${coding}", but compressed bodies are not taken; send the body as it is.`,
      );
    }
  });

  it("refuses a compressed body without Content-Encoding, and accepts codings without effect", async () => {
    const send = (body: Uint8Array<ArrayBuffer>, coding: string) =>
      service.request("/panoramas", customer, { method: "POST", body, headers: { "content-encoding": coding } });
    const json = Buffer.from(JSON.stringify(A_CREATION));
    expect(await expectError(await send(gzipSync(json), "identity"), 400, "invalid_request")).toBe(
      "request body: must be JSON in UTF-8 and not compressed, but has bytes that are not valid UTF-8.",
    );
    for (const coding of ["identity", "utf-8", ""]) expect((await send(json, coding)).status).toBe(202);
  });

  it.each([
    ["malformed JSON", '{"resolution": "1k", '],
    ["a body that is not JSON", "resolution=1k"],
    ["an empty body", ""],
    ["deep nesting", "[".repeat(100_000)],
    ["Latin-1", Buffer.from('{"resolution":"1k","prompt":"caf\xe9"}', "latin1")],
  ])("refuses %s with 400", async (_, body) => {
    const response = await service.request("/panoramas", customer, { method: "POST", body });
    expect(await expectError(response, 400, "invalid_request")).toMatch(/^request body: /);
  });

  it("refuses a body of more than 256 KiB by its declared length, and while it is read", async () => {
    const body = JSON.stringify({ ...A_CREATION, prompt: "x".repeat(256 * 1024) });
    const declared = await service.request("/panoramas", customer, { method: "POST", body });
    expect(await expectError(declared, 400, "invalid_request")).toContain("262144 bytes");
    const chunked = await service.request("/panoramas", customer, {
      method: "POST",
      body: new Blob([body]).stream(),
      duplex: "half",
    } as RequestInit);
    expect(await expectError(chunked, 400, "invalid_request")).toContain("262144 bytes");
  });

  it("accepts a chunked body with any content type", async () => {
    const response = await service.request("/panoramas", customer, {
      method: "POST",
      body: new Blob([JSON.stringify(A_CREATION)]).stream(),
      headers: { "content-type": "text/plain" },
      duplex: "half",
    } as RequestInit);
    expect(response.status).toBe(202);
  });

  it("returns the same reason in the 502 answer and in the list, for a picture that cannot be read", async () => {
    const image_urls = ["https://pictures.example/1.jpg", "https://pictures.example/2.jpg"];
    const imageProblem = "its host answered with status 404";
    const failure = { cause: "reference_unreachable", imageIndex: 1, imageProblem } as const;
    vi.spyOn(service.provider, "submit").mockResolvedValueOnce(err({ kind: "refused", reason: "hidden", ...failure }));
    const response = await service.create(customer, { ...A_CREATION, image_urls });
    expect(response.status).toBe(502);
    const { error } = (await response.json()) as { error: object };
    const message = expect.stringMatching(
      /^The picture of reference image 2 could not be read: its host answered with status 404\. Upload it/,
    );
    const told = { message, reason: "reference_unreachable", param: "image_urls[1]" };
    expect(error).toEqual({ code: "upstream_error", ...told });
    const listed = (await (await service.request("/panoramas?limit=1", customer)).json()) as {
      data: { error: object }[];
    };
    expect(listed.data[0]?.error).toEqual({ code: "generation_failed", ...told });
    expect(await credits()).toBe(100);
  });

  describe("with an Idempotency-Key", () => {
    it.each(["order-7", '"order-7"'])("replays the same task and charges it once for the key %s", async (key) => {
      const first = await service.create(customer, A_CREATION, { "idempotency-key": "order-7" });
      const again = await service.create(
        customer,
        { visibility: "private", ...A_CREATION },
        { "idempotency-key": key },
      );
      expect([first.status, again.status]).toEqual([202, 202]);
      expect(await again.json()).toEqual(await first.json());
      expect(first.headers.has("idempotent-replayed")).toBe(false);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(await credits()).toBe(96);
    });

    it("replays the first answer with status processing after the panorama is finished and published", async () => {
      const key = { "idempotency-key": "p" };
      const body = { ...A_CREATION, seed: 7, metadata: { b: "2", a: "1" } };
      const first = (await (await service.create(customer, body, key)).json()) as { id: TaskId };
      expect(first).toMatchObject(body);
      await service.settle();
      await service.tasks.setVisibility(first.id, customer.accountId, "public");
      const again = await service.create(customer, { ...body, metadata: { a: "1", b: "2" } }, key);
      expect(await again.json()).toEqual(first);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
    });
  });
});

it("POST /panoramas accepts a private webhook_url of http at an origin that the operator lists", async () => {
  const service = await HttpService.start({ webhookPrivateOrigins: ["http://10.0.0.5:9000"] });
  onTestFinished(() => service.end());
  const customer = await service.customer();
  const createWith = (webhook_url: string) => service.create(customer, { ...A_CREATION, webhook_url });
  expect((await createWith("http://10.0.0.5:9000/hook")).status).toBe(202);
  expect((await createWith("http://10.0.0.5:9001/hook")).status).toBe(400);
});
