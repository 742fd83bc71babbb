import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { correlationSeed } from "../../../../../adapters/provider/remote/correlation-seed.js";
import { aCreationRequest, taskId } from "../../../../support/builders.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import { answers, refuses } from "../../../../support/faulty-server.js";
import { HandClock } from "../../../../support/hand-clock.js";
import { REPLICATE_MODEL, startReplicate } from "../../../../support/providers-under-test.js";

remoteProviderContract("Replicate", startReplicate, {
  callsPerSecond: 40,
  concurrencyMax: undefined,
  pauseSeconds: 30,
  searchable: true,
});

describe("replicate dialect", () => {
  let clock: HandClock;
  let replicate: Awaited<ReturnType<typeof startReplicate>>;

  /** Nothing in these tests has an unknown status. */
  const failOnWarning = (warning: string): never => {
    throw new Error(warning);
  };

  beforeEach(async () => {
    clock = new HandClock();
    replicate = await startReplicate({ clock, warn: failOnWarning });
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

  it("sends the configured model, and cancel-after from the generation deadline", async () => {
    await submitted();
    const [creation] = replicate.fake.server.requests;
    expect(creation?.headers["cancel-after"]).toBe("600s");
    expect(creation?.headers).not.toHaveProperty("prefer");
    expect(creation?.body).toMatchObject({ version: REPLICATE_MODEL });
  });

  it("checks whether the model exists", async () => {
    expect(await replicate.provider.check()).toEqual(ok(undefined));
    expect(replicate.fake.server.requests.map(({ path }) => path)).toEqual(["/v1/models/owner/flux-360"]);
    replicate.fake.models = [];
    const reason = `REPLICATE_MODEL=${REPLICATE_MODEL}: the provider has no such model; set one that it has`;
    expect(await replicate.provider.check()).toEqual(err({ kind: "misconfigured", reason }));
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
