import { ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, secondsAfter, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import type { CreationRequest } from "../../../../../domain/tasks/creation-request.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import { FLUX_360_VERSION } from "../../../../support/fake-replicate.js";
import { answers, json, refuses } from "../../../../support/faulty-server.js";
import { hostedPicture } from "../../../../support/hosted-pictures.js";
import { startReplicate, startSeedream, startUncheckedReplicate } from "../../../../support/providers-under-test.js";
import { plain } from "../../../../support/test-images.js";

const DEFAULTS = {
  callsPerSecond: 40,
  concurrencyMax: undefined,
  pauseSeconds: 30,
  cancels: true,
  canceled: { cause: "deadline_passed" },
  keyVariable: "REPLICATE_API_KEY",
  startUnchecked: startUncheckedReplicate,
} as const;

// A canvas is sent as bytes; see below.
remoteProviderContract("Replicate", startReplicate, {
  ...DEFAULTS,
  searchable: true,
  textOnly: true,
});
remoteProviderContract("Replicate with seedream-4", startSeedream, {
  ...DEFAULTS,
  searchable: false,
});

describe("replicate dialect", () => {
  let clock: HandClock;
  let storage: MemoryObjectStorage;
  let replicate: Awaited<ReturnType<typeof startReplicate>>;

  beforeEach(async () => {
    clock = new HandClock();
    storage = new MemoryObjectStorage();
    replicate = await startReplicate({ clock, storage });
    replicate.fake.now = () => clock.now();
  });

  afterEach(() => replicate.close());

  const submitted = async (request: CreationRequest = aCreationRequest()): Promise<string> =>
    (await replicate.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();

  it("sends version, trigger word, custom size, correlation seed, and cancel-after from the deadline", async () => {
    await submitted(aCreationRequest({ prompt: "a lake", resolution: "4k", seed: 7 }));
    const [{ headers, body } = {}] = replicate.fake.server.requests;
    expect(headers?.["cancel-after"]).toBe("600s");
    expect(headers).not.toHaveProperty("prefer");
    expect(body).toEqual({
      version: FLUX_360_VERSION,
      input: {
        prompt: "TOK, 360 degree equirectangular panorama, seamless, a lake",
        aspect_ratio: "custom",
        width: 1440,
        height: 720,
        seed: correlationSeed(taskId(1)),
        num_outputs: 1,
        go_fast: false,
        output_format: "png",
        output_quality: 95,
      },
    });
  });

  it("does not cancel a prediction that has started", async () => {
    replicate.fake.plan = "run";
    replicate.fake.waiting = true;
    const id = await submitted();
    replicate.fake.faults.polls.push({ done: false, instead: json(200, { id, status: "starting" }) });
    replicate.fake.waiting = false;
    expect(await replicate.provider.cancel?.(id)).toEqual(ok("too_late"));
    const posts = replicate.fake.server.requests.filter(({ method }) => method === "POST").map(({ path }) => path);
    expect(posts).toEqual(["/v1/predictions", `/v1/predictions/${id}/cancel`]);
  });

  describe("a reference image", () => {
    const jpeg = expect.stringMatching(/^data:image\/jpeg;base64,/);
    const masked = { image: jpeg, mask: expect.stringMatching(/^data:image\/png;base64,/), prompt_strength: 0.95 };
    const sent = () => {
      const { image, mask, prompt_strength } = replicate.fake.tasks[0]?.input ?? {};
      return { image, mask, prompt_strength };
    };

    it.each([
      ["a photo with a mask", 300, masked],
      ["a panorama with a lower prompt_strength", 400, { image: jpeg, mask: undefined, prompt_strength: 0.6 }],
    ])("preserves %s", async (_, widthPixels, expected) => {
      const picture = await plain({ widthPixels, heightPixels: 200 }).png().toBuffer();
      await submitted(aCreationRequest({ image_urls: [await hostedPicture(storage, picture)] }));
      expect(sent()).toEqual(expected);
    });

    it("at another host is fetched and placed on the canvas, because the result gets its shape", async () => {
      replicate.fake.picture = await plain({ widthPixels: 300, heightPixels: 200 }).png().toBuffer();
      // A customer's URL is https; the exempt origin stands for a public host.
      const imageUrls = [`${replicate.fake.server.url}/delivery/photo.png`];
      await submitted({ ...aCreationRequest(), imageUrls });
      expect(sent()).toEqual(masked);
    });
  });

  it.each<[object, object]>([
    [{ status: "starting" }, { state: "running" }],
    [{ status: "aborted" }, { state: "failed", cause: "never_started" }],
    [{ status: "succeeded", output: "https://i.example/1.png" }, { temporaryUrl: "https://i.example/1.png" }],
    [
      { status: "succeeded", output: [] },
      { state: "failed", reason: "there is no result" },
    ],
    [
      { status: "succeeded", data_removed: true },
      { state: "failed", reason: "Replicate has deleted the result already" },
    ],
  ])("reports a prediction with %j as %j", async (prediction, progress) => {
    const id = await submitted();
    replicate.fake.faults.polls.push(answers(prediction));
    expect((await replicate.provider.poll(id))._unsafeUnwrap()).toMatchObject(progress);
  });

  it("searches predictions from five minutes before the task on", async () => {
    const { provider, fake } = replicate;
    const id = await submitted();
    await clock.advance(10 * 60_000);
    expect(await provider.search(taskId(1), secondsAfter(noon, 300))).toEqual(ok(id));
    expect(await provider.search(taskId(1), secondsAfter(noon, 301))).toEqual(ok(undefined));
    expect(fake.server.requests.at(-1)?.query.get("created_after")).toBe("2026-01-01T12:00:01.000Z");
  });

  it("returns unavailable if the provider has removed the inputs", async () => {
    await submitted();
    await clock.advance(60 * 60_000 + 1);
    expect((await replicate.provider.search(taskId(2), noon))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
    expect(await replicate.provider.search(taskId(2), clock.now())).toEqual(ok(undefined));
  });

  it("reads the length of the pause from the body of a 429", async () => {
    const id = await submitted();
    replicate.fake.faults.polls.push(
      refuses(429, {}, { detail: "Request was throttled. Your rate limit resets in ~12s." }),
    );
    await replicate.provider.poll(id);
    await clock.advance(11_999);
    expect((await replicate.provider.poll(id)).isErr()).toBe(true);
    await clock.advance(1);
    expect((await replicate.provider.poll(id)).isOk()).toBe(true);
  });
});
