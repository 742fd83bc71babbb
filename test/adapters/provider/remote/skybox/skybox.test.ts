import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { describeProviderWebhooks } from "../../../../support/contracts/provider-webhooks-contract.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import { SKYBOX_KEY } from "../../../../support/fake-skybox.js";
import { answers, FAULTS, NO_PRIMITIVE, refuses } from "../../../../support/faulty-server.js";
import { startSkybox } from "../../../../support/providers-under-test.js";

remoteProviderContract("Skybox", startSkybox, {
  callsPerSecond: 10,
  concurrencyMax: 1,
  pauseSeconds: 10,
  searchable: true,
  cancels: true,
  keyVariable: "SKYBOX_API_KEY",
});
describeProviderWebhooks("skybox", (overrides) => startSkybox({ concurrencyMax: 2, ...overrides }));

describe("skybox dialect", () => {
  let clock: HandClock;
  let skybox: Awaited<ReturnType<typeof startSkybox>>;

  /** Nothing in these tests has an unknown status. */
  const failOnWarning = (warning: string): never => {
    throw new Error(warning);
  };

  beforeEach(async () => {
    clock = new HandClock();
    skybox = await startSkybox({ clock, warn: failOnWarning });
  });

  afterEach(() => skybox.close());

  const anOrder = (body: Readonly<Record<string, unknown>> = {}) => ({
    taskId: taskId(1),
    request: aCreationRequest(body),
  });

  it("sends the style, and the correlation seed instead of the customer's", async () => {
    await skybox.provider.submit(anOrder({ prompt: "a lake", seed: 7 }));
    expect(skybox.fake.tasks[0]?.input).toEqual({
      prompt: "a lake",
      skybox_style_id: 67,
      seed: correlationSeed(taskId(1)),
    });
  });

  it("sends a neutral prompt if there is none, and only the first image", async () => {
    const image_urls = ["https://pictures.example/1.jpg", "https://pictures.example/2.jpg"];
    await skybox.provider.submit(anOrder({ prompt: undefined, image_urls }));
    expect(skybox.fake.tasks[0]?.input).toMatchObject({
      prompt: expect.stringMatching(/./),
      init_image: image_urls[0],
      init_strength: 0.5,
    });
  });

  describe("discard", () => {
    it("deletes the generation, also if it is deleted already", async () => {
      const id = (await skybox.provider.submit(anOrder()))._unsafeUnwrap();
      for (const _ of [1, 2]) expect(await skybox.provider.discard(id)).toEqual(ok(undefined));
      expect(skybox.fake.tasks).toEqual([]);
      expect(skybox.fake.server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
        "POST /api/v1/skybox",
        `DELETE /api/v1/imagine/deleteImagine/${id}`,
        `DELETE /api/v1/imagine/deleteImagine/${id}`,
      ]);
    });

    it.each([
      ["answers with an error", refuses(500), "status 500"],
      ["does not accept the key", refuses(401), "status 401: the provider does not accept the API key"],
      ["sends no answer", FAULTS.cutBefore, expect.any(String)],
    ])("returns unavailable if the provider %s", async (_, fault, reason) => {
      const id = (await skybox.provider.submit(anOrder()))._unsafeUnwrap();
      skybox.fake.faults.polls.push(fault);
      expect(await skybox.provider.discard(id)).toEqual(err({ kind: "provider_unavailable", reason }));
      expect(skybox.fake.tasks).toHaveLength(1);
    });
  });

  describe("check", () => {
    const styles = (...listed: readonly object[]) => {
      skybox.fake.styles = listed;
    };
    const rejectionOfALongPrompt = () => {
      const tooLong = aCreationRequest({ prompt: "x".repeat(2001) });
      return skybox.provider.checkRequest(tooLong)._unsafeUnwrapErr();
    };

    it("finds the style in the provider's list and applies its limit for prompts", async () => {
      expect(rejectionOfALongPrompt()).toMatchObject({ rule: { max: 2000, actual: 2001 } });
      expect(await skybox.provider.check()).toEqual(ok(undefined));
      expect(skybox.fake.server.requests.map(({ path }) => path)).toEqual(["/api/v1/skybox/styles"]);
      expect(rejectionOfALongPrompt()).toMatchObject({ field: "prompt", rule: { name: "characters_max", max: 550 } });
      expect(skybox.provider.checkRequest(aCreationRequest({ prompt: "🌲".repeat(550) })).isOk()).toBe(true);
    });

    it.each([
      ["has no max-char", {}],
      ["has null", { "max-char": null }],
      ["has text", { "max-char": "a few" }],
      ["has an object", { "max-char": NO_PRIMITIVE.length }],
    ])("accepts prompts of 2000 characters when the list %s", async (_, style) => {
      styles({ id: "67", ...style });
      expect(await skybox.provider.check()).toEqual(ok(undefined));
      expect(rejectionOfALongPrompt()).toMatchObject({ field: "prompt", rule: { name: "characters_max", max: 2000 } });
    });

    it("searches the lists of all model versions before it reports an unknown style", async () => {
      skybox.fake.faults.checks.push(answers([]), answers([]));
      expect(await skybox.provider.check()).toEqual(ok(undefined));
      expect(skybox.fake.server.requests.map(({ query }) => query.get("model_version"))).toEqual([null, "4", "3"]);

      styles({ id: 102 }, { id: 670 });
      const reason = "SKYBOX_STYLE_ID=67: the provider has no such style; set one of its list, GET /skybox/styles";
      expect(await skybox.provider.check()).toEqual(err({ kind: "misconfigured", reason }));
    });

    it("returns unchecked if the answer is not a list or unavailable", async () => {
      skybox.fake.faults.checks.push(answers({ error: "soon" }));
      expect(await skybox.provider.check()).toEqual(
        err({ kind: "unchecked", reason: "the answer is not a list of styles" }),
      );
      styles();
      skybox.fake.faults.checks.push(answers([]), refuses(503));
      expect(await skybox.provider.check()).toEqual(err({ kind: "unchecked", reason: "status 503" }));
    });
  });

  it("reports a creation with status 200 and an error as refused", async () => {
    skybox.fake.faults.creates.push(answers({ id: 46, error: "generations are disabled" }));
    expect((await skybox.provider.submit(anOrder()))._unsafeUnwrapErr().kind).toBe("refused");
  });

  it("reports a generation with status dispatched as running", async () => {
    const id = (await skybox.provider.submit(anOrder()))._unsafeUnwrap();
    skybox.fake.faults.polls.push(answers({ request: { status: "dispatched" } }));
    expect(await skybox.provider.poll(id)).toEqual(ok({ state: "running" }));
  });

  it.each(["request", "imagine", "bare"] as const)("reads a generation wrapped as: %s", async (wrapper) => {
    skybox.fake.wrapper = wrapper;
    const id = (await skybox.provider.submit(anOrder()))._unsafeUnwrap();
    expect((await skybox.provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
  });

  it("reports a complete generation without an image as running for 60 seconds, then as failed", async () => {
    skybox.fake.plan = "succeed without image";
    const id = (await skybox.provider.submit(anOrder()))._unsafeUnwrap();
    expect((await skybox.provider.poll(id))._unsafeUnwrap()).toEqual({ state: "running" });
    await clock.advance(60_000);
    expect((await skybox.provider.poll(id))._unsafeUnwrap().state).toBe("failed");
  });

  it("reports a missing task only after its list has shown one made over the API", async () => {
    expect((await skybox.provider.search(taskId(2), noon))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    await skybox.provider.submit(anOrder());
    skybox.fake.faults.lists.push(answers({ data: [{ id: 4711, seed: 7 }], has_more: false }));
    expect((await skybox.provider.search(taskId(2), noon))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    expect(await skybox.provider.search(taskId(2), noon)).toEqual(ok(undefined));
    skybox.fake.faults.lists.push(answers({ data: [{ id: 4711, seed: null }], has_more: false }));
    expect((await skybox.provider.search(taskId(2), noon))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
  });

  it("reports a missing task after a restart once its list has shown a polled one", async () => {
    const body = JSON.stringify({ prompt: "a lake", skybox_style_id: 67, seed: 7 });
    const headers = { "x-api-key": SKYBOX_KEY, "content-type": "application/json" };
    const created = await fetch(`${skybox.fake.baseUrl}/skybox`, { method: "POST", headers, body });
    const { id } = (await created.json()) as { id: number };
    expect((await skybox.provider.search(taskId(2), noon))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    await skybox.provider.poll(String(id));
    expect(await skybox.provider.search(taskId(2), noon)).toEqual(ok(undefined));
  });
});
