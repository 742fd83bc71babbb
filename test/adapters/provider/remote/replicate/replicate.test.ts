import { ok } from "neverthrow";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, secondsAfter, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { referenceImageName } from "../../../../../domain/images/object-name.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import { FLUX_360_VERSION } from "../../../../support/fake-replicate.js";
import { answers, json, refuses } from "../../../../support/faulty-server.js";
import { startReplicate, startSeedream } from "../../../../support/providers-under-test.js";
import { plain } from "../../../../support/test-images.js";

const DEFAULTS = {
  callsPerSecond: 40,
  concurrencyMax: undefined,
  pauseSeconds: 30,
  cancels: true,
  canceled: { cause: "deadline_passed" },
} as const;

remoteProviderContract("Replicate", startReplicate, { ...DEFAULTS, searchable: true });
remoteProviderContract("Replicate with seedream-4", startSeedream, { ...DEFAULTS, searchable: false });

describe("replicate dialect", () => {
  let clock: HandClock;
  let storage: MemoryObjectStorage;
  let replicate: Awaited<ReturnType<typeof startReplicate>>;

  /** Nothing in these tests has an unknown status. */
  const failOnWarning = (warning: string): never => {
    throw new Error(warning);
  };

  beforeEach(async () => {
    clock = new HandClock();
    storage = new MemoryObjectStorage();
    replicate = await startReplicate({ clock, storage, warn: failOnWarning });
    replicate.fake.now = () => clock.now();
  });

  afterEach(() => replicate.close());

  const submitted = async (body: Readonly<Record<string, unknown>> = {}): Promise<string> =>
    (await replicate.provider.submit({ taskId: taskId(1), request: aCreationRequest(body) }))._unsafeUnwrap();

  it.each([
    ["1k", 1024, 512],
    ["2k", 1440, 720],
    ["4k", 1440, 720],
  ])("sends %s as %i × %i pixels, with the correlation seed", async (resolution, width, height) => {
    await submitted({ prompt: "a lake", resolution });
    expect(replicate.fake.tasks[0]?.input).toMatchObject({
      prompt: "TOK, 360 degree equirectangular panorama, seamless, a lake",
      aspect_ratio: "custom",
      width,
      height,
      go_fast: false,
      seed: correlationSeed(taskId(1)),
    });
  });

  it("sends the correlation seed instead of the customer's", async () => {
    const found: unknown[] = [];
    for (const n of [1, 2]) {
      const request = aCreationRequest({ seed: 7 });
      const id = (await replicate.provider.submit({ taskId: taskId(n), request }))._unsafeUnwrap();
      found.push((await replicate.provider.search(taskId(n), noon))._unsafeUnwrap() === id);
    }
    expect(replicate.fake.tasks.map(({ input }) => input.seed)).toEqual([1, 2].map((n) => correlationSeed(taskId(n))));
    expect(found).toEqual([true, true]);
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
    const reason = "the provider ended it as canceled";
    expect(await replicate.provider.poll(id)).toEqual(ok({ state: "failed", reason, cause: "deadline_passed" }));
  });

  it("sends the configured model, and cancel-after from the generation deadline", async () => {
    await submitted();
    const [creation] = replicate.fake.server.requests;
    expect(creation?.headers["cancel-after"]).toBe("600s");
    expect(creation?.headers).not.toHaveProperty("prefer");
    expect(creation?.body).toMatchObject({ version: FLUX_360_VERSION });
  });

  describe("a reference image", () => {
    const REFERENCE = referenceImageName("ab".repeat(11), "image/png");
    const uploaded = async (width: number, height: number): Promise<Readonly<Record<string, unknown>>> => {
      const bytes = await plain({ widthPixels: width, heightPixels: height }).png().toBuffer();
      await storage.put(REFERENCE, bytes, "image/png");
      await submitted({ image_urls: [storage.urlOf(REFERENCE)] });
      return replicate.fake.tasks[0]?.input ?? {};
    };
    const jpeg = expect.stringMatching(/^data:image\/jpeg;base64,/);

    it("preserves a photo with a mask", async () => {
      const { image, mask, prompt_strength } = await uploaded(300, 200);
      expect({ image, mask, prompt_strength }).toEqual({
        image: jpeg,
        mask: expect.stringMatching(/^data:image\/png;base64,/),
        prompt_strength: 0.95,
      });
      const pixels = await sharp(Buffer.from(String(mask).split(",")[1] ?? "", "base64"))
        .greyscale()
        .raw()
        .toBuffer();
      expect([pixels[360 * 1440 + 720], pixels[360 * 1440 + 100]]).toEqual([0, 255]);
    });

    it("preserves a panorama with a lower prompt_strength", async () => {
      const { image, mask, prompt_strength } = await uploaded(400, 200);
      expect({ image, mask, prompt_strength }).toEqual({ image: jpeg, mask: undefined, prompt_strength: 0.6 });
    });

    it("preserves an image at a foreign URL with a lower prompt_strength", async () => {
      await submitted({ image_urls: ["https://pictures.example/p.jpg"] });
      const { image, mask, prompt_strength } = replicate.fake.tasks[0]?.input ?? {};
      expect({ image, mask, prompt_strength }).toEqual({
        image: "https://pictures.example/p.jpg",
        mask: undefined,
        prompt_strength: 0.6,
      });
    });
  });

  it.each([
    ["starting", "running"],
    ["processing", "running"],
    ["succeeded", "succeeded"],
    ["failed", "failed"],
    ["canceled", "failed"],
    ["aborted", "failed"],
  ])("reports a prediction with status %s as %s", async (status, state) => {
    const id = await submitted();
    replicate.fake.faults.polls.push(answers({ status, output: ["https://images.example/1.png"] }));
    expect((await replicate.provider.poll(id))._unsafeUnwrap().state).toBe(state);
  });

  it.each(["string", "array"] as const)("reads the image URL from an output of type: %s", async (output) => {
    replicate.fake.output = output;
    expect((await replicate.provider.poll(await submitted()))._unsafeUnwrap().state).toBe("succeeded");
  });

  it.each(["empty array", "removed"] as const)(
    "reports a prediction without an image as failed: %s",
    async (output) => {
      replicate.fake.output = output;
      expect((await replicate.provider.poll(await submitted()))._unsafeUnwrap().state).toBe("failed");
    },
  );

  it("searches predictions from five minutes before the task on", async () => {
    const { provider, fake } = replicate;
    const id = await submitted();
    await clock.advance(10 * 60_000);
    expect(await provider.search(taskId(1), noon)).toEqual(ok(id));
    expect(await provider.search(taskId(1), secondsAfter(noon, 300))).toEqual(ok(id));
    expect(await provider.search(taskId(1), secondsAfter(noon, 301))).toEqual(ok(undefined));
    expect(await provider.search(taskId(2), noon)).toEqual(ok(undefined));
    expect(fake.server.requests.at(-1)?.query.get("created_after")).toBe("2026-01-01T11:55:00.000Z");
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
