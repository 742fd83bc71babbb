import { describe, expect, it } from "vitest";
import { abilitiesOf } from "../../../adapters/client/offer.js";
import { noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { ALL_ABILITIES } from "../../../domain/tasks/abilities.js";
import type { Fault } from "../../support/fake-service.js";
import { USUAL_OFFER } from "../../support/fake-service.js";
import { pngBytes } from "../../support/image-bytes.js";
import { A_HARBOUR_SHOWN, aRequest, failureOf, setUpClient } from "./client-setup.js";

const on = setUpClient();
const { clientWith } = on;

describe("PanoramaClient.credits", () => {
  const answer = (body: object): Fault => ({ kind: "answer", status: 200, body: JSON.stringify(body) });

  it("returns remaining, reserved and spent credits, and fields of a newer service", async () => {
    const totals = { remaining_credits: 90, reserved_credits: 4, spent_credits: 6 };
    on.service.failNext("GET", "/credits", answer({ ...totals, added_later: true }));
    expect(await on.client.credits()).toEqual({ ...totals, added_later: true });
  });
});

const onProgress = () => {};

describe("PanoramaClient.wait with progress", () => {
  it("asks the service to wait, reports progress, and returns the finished task", async () => {
    on.service.readsWhileProcessing = 3;
    const { id } = await on.client.create(aRequest());
    const seen: string[] = [];
    const done = await on.client.wait(id, { timeout: 60_000, onProgress: ({ task }) => seen.push(task.status) });
    expect(done).toMatchObject({ status: "succeeded", output: { storage_status: "saved" } });
    expect(seen).toEqual(["processing", "processing", "processing"]);
    expect(on.service.requests("GET", `/panoramas/${id}`)[0]?.headers.prefer).toBe("wait=10");
  });

  it("polls at most every two seconds if the service does not wait", async () => {
    on.service.readsWhileProcessing = 3;
    const { id } = await on.client.create(aRequest());
    await on.client.wait(id, { timeout: 60_000, onProgress });
    expect(on.clock.pauses).toEqual([2250, 2250, 2250]);
  });

  it("continues after an outage of the service", async () => {
    const { id } = await on.client.create(aRequest());
    on.service.failNext(
      "GET",
      "/panoramas",
      { kind: "accept-and-drop" },
      { kind: "answer", status: 503, body: "busy" },
    );
    expect((await on.client.wait(id, { timeout: 60_000, onProgress })).status).toBe("succeeded");
  });

  it("tries longer than other calls while nothing listens, because the service has the task", async () => {
    const { id } = await on.client.create(aRequest());
    await on.service.stop();
    expect((await failureOf(on.client.wait(id, { timeout: 60_000, onProgress }))).code).toBe("network_error");
    expect(on.clock.pauses).toEqual([250, 500, 1000, 2000, 4000]);
    await on.startService();
  });
});

describe("the other calls of PanoramaClient", () => {
  it("read the balance and the list", async () => {
    await on.client.create(aRequest());
    expect(await on.client.credits()).toEqual({ remaining_credits: 96 });
    expect(await on.client.list({ limit: 5, cursor: "c&d" })).toEqual({
      data: [{ id: "task-1", status: "processing", credits_charged: 4, ...A_HARBOUR_SHOWN }],
      next_cursor: null,
    });
    expect(on.service.requests("GET", "/panoramas").at(-1)?.path).toBe("/api/v1/panoramas?limit=5&cursor=c%26d");
  });

  it("send seed and metadata, and return the fields of the task", async () => {
    const given = { seed: 7, metadata: { order: "A-17" } };
    const created = await on.client.create({ prompt: "a lake", resolution: "1k", ...given });
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
    expect(JSON.parse(String(on.service.requests("POST", "/panoramas")[0]?.body))).toMatchObject(given);
    on.service.readsWhileProcessing = 0;
    expect(await on.client.read("task-1")).toMatchObject({
      ...shown,
      status: "succeeded",
      finished_at: "2026-01-01T12:00:30.000Z",
      output: { thumbnail_url: expect.stringContaining("-thumbnail.webp") },
    });
  });

  it("cancel a task and return it, also after a lost answer", async () => {
    await on.client.create(aRequest());
    on.service.failNext("POST", "/panoramas/task-1/cancel", { kind: "accept-and-drop" });
    expect(await on.client.cancel("task-1")).toMatchObject({
      id: "task-1",
      status: "failed",
      error: { message: "The panorama was canceled." },
    });
    expect(on.service.requests("POST", "/panoramas/task-1/cancel")).toHaveLength(2);
    expect(await failureOf(on.client.cancel("unknown"))).toMatchObject({ code: "not_found", status: 404 });
  });

  it("delete a panorama, also after a lost answer", async () => {
    await on.client.create(aRequest());
    on.service.failNext("DELETE", "/panoramas/task-1", { kind: "accept-and-drop" });
    expect(await on.client.delete("task-1")).toBeUndefined();
    expect(on.service.requests("DELETE", "/panoramas/task-1")).toHaveLength(2);
    expect(await failureOf(on.client.delete("unknown"))).toMatchObject({ code: "not_found", status: 404 });
  });

  it("do not take the page of a proxy for a deletion", async () => {
    await on.client.create(aRequest());
    on.service.failNext("DELETE", "/panoramas/task-1", { kind: "answer", status: 200, body: "<h1>Log in</h1>" });
    expect(await failureOf(on.client.delete("task-1"))).toMatchObject({ code: "unexpected_answer", status: 200 });
  });

  it("filter the list", async () => {
    await on.client.list({
      status: "failed",
      visibility: "public",
      created_after: noon,
      created_before: secondsAfter(noon, 1).toISOString(),
      metadata: { "a&b": "c=d" },
    });
    const { pathname, searchParams } = new URL(
      on.service.requests("GET", "/panoramas")[0]?.path ?? "",
      on.service.origin,
    );
    expect(pathname).toBe("/api/v1/panoramas");
    expect([...searchParams]).toEqual([
      ["limit", "100"],
      ["status", "failed"],
      ["visibility", "public"],
      ["created_after", "2026-01-01T12:00:00.000Z"],
      ["created_before", "2026-01-01T12:00:01.000Z"],
      ["metadata.a&b", "c=d"],
    ]);
  });

  it("refuse an upload that breaks a rule of the service without sending it", async () => {
    const refused = async (images: Parameters<typeof on.client.upload>[0]) => await failureOf(on.client.upload(images));
    expect(await refused([])).toMatchObject({ code: "invalid_request" });
    expect(await refused(Array(6).fill({ bytes: pngBytes(20) }))).toMatchObject({ code: "invalid_request" });
    expect((await refused([{ bytes: pngBytes(11 * 1024 * 1024) }])).message).toContain("10 MiB");
    // Only the limits of the service were read, once for each upload that breaks the usual ones.
    const read = ["GET /api/v1/openapi.json", "GET /api/v1/openapi.json"];
    expect(on.service.received.map(({ method, path }) => `${method} ${path}`)).toEqual(read);
    expect((await refused([{ bytes: pngBytes(20), type: "image/jpeg" }])).message).toContain("image/png");
    expect(on.service.received).toHaveLength(2);
  });

  it("apply the limits of the service to uploads, and the usual ones if it describes none", async () => {
    const large = [{ bytes: pngBytes(11 * 1024 * 1024) }];
    const usual = USUAL_OFFER;
    on.service.offer = { ...usual, uploads: { ...usual.uploads, file_bytes: 12 * 1024 * 1024 } };
    expect((await on.client.upload(large)).image_urls).toHaveLength(1);
    on.service.failNext("GET", "/openapi.json", { kind: "answer", status: 200, body: "{}" });
    expect((await failureOf(on.client.upload(large))).message).toContain("10 MiB");
  });

  it("read prices and limits from the description of the service", async () => {
    expect(await on.client.offer()).toEqual(USUAL_OFFER);
    on.service.failNext("GET", "/openapi.json", { kind: "answer", status: 200, body: "{}" });
    expect((await failureOf(on.client.offer())).code).toBe("unexpected_answer");
  });

  it("read the current abilities, and cap them at the limits of this version", async () => {
    const later = { images_min: 0, images_max: 10, prompt_characters_max: 32_000, resolutions: ["8k"] };
    on.service.failNext("GET", "/abilities", { kind: "answer", status: 200, body: JSON.stringify(later) });
    expect(await on.client.abilities()).toEqual(later);
    expect(abilitiesOf(later)).toEqual(ALL_ABILITIES);
  });

  it("read no more than 8 MiB of an answer", async () => {
    const large: Fault = { kind: "answer", status: 200, body: `{"remaining_credits":1${" ".repeat(8 * 1024 * 1024)}}` };
    on.service.failNext("GET", "/credits", large);
    expect(await failureOf(on.client.credits())).toMatchObject({ code: "unexpected_answer", status: 200 });
  });

  it("never show an unusable API key in an error", async () => {
    const unusable = await failureOf(clientWith("sk-secret\nwith a line break").credits());
    expect(unusable.code).toBe("invalid_api_key");
    expect(unusable.message).not.toContain("secret");
  });
});
