import { err, ok } from "neverthrow";
import { afterEach, beforeEach, expect, it } from "vitest";
import { correlationSeed } from "../../../../../adapters/provider/remote/correlation-seed.js";
import { aCreationRequest, taskId } from "../../../../support/builders.js";
import { remoteProviderContract } from "../../../../support/contracts/remote-provider-contract.js";
import { refuses, says } from "../../../../support/faulty-server.js";
import { HandClock } from "../../../../support/hand-clock.js";
import { REPLICATE_MODEL, startReplicate } from "../../../../support/providers-under-test.js";

remoteProviderContract(startReplicate, {
  callsPerSecond: 40,
  concurrencyMax: undefined,
  pauseSeconds: 30,
  searchable: true,
});

let clock: HandClock;
let replicate: Awaited<ReturnType<typeof startReplicate>>;

/** Nothing in these tests is unknown to the adapter. */
const isSurprised = (warning: string): never => {
  throw new Error(warning);
};

beforeEach(async () => {
  clock = new HandClock();
  replicate = await startReplicate({ clock, warn: isSurprised });
});

afterEach(() => replicate.close());

const submitted = async (body: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  (await replicate.provider.submit({ taskId: taskId(1), request: aCreationRequest(body) }))._unsafeUnwrap();

it.each([
  ["1k", 1024, 512],
  ["2k", 1440, 720],
  ["4k", 1440, 720],
])("asks for %s in %i × %i pixels, with the seed as our mark", async (resolution, width, height) => {
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

it("asks the configured model, and bounds what an orphan can cost by our generation deadline", async () => {
  await submitted();
  const [creation] = replicate.fake.server.asked;
  expect(creation?.headers["cancel-after"]).toBe("600s");
  expect(creation?.headers).not.toHaveProperty("prefer");
  expect(creation?.body).toMatchObject({ version: REPLICATE_MODEL });
});

it("knows at the start whether there is the model", async () => {
  expect(await replicate.provider.check()).toEqual(ok(undefined));
  expect(replicate.fake.server.asked.map(({ path }) => path)).toEqual(["/v1/models/owner/flux-360"]);
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
])("takes a prediction that is %s for %s", async (status, state) => {
  const id = await submitted();
  replicate.fake.faults.polls.push(says({ status, output: ["https://images.example/1.png"] }));
  expect((await replicate.provider.poll(id))._unsafeUnwrap().state).toBe(state);
});

it.each(["string", "array"] as const)("finds the image in an output that is: %s", async (output) => {
  replicate.fake.output = output;
  expect((await replicate.provider.poll(await submitted()))._unsafeUnwrap().state).toBe("succeeded");
});

it.each(["empty array", "removed"] as const)("has failed without an image: %s", async (output) => {
  replicate.fake.output = output;
  expect((await replicate.provider.poll(await submitted()))._unsafeUnwrap().state).toBe("failed");
});

it("reads from a 429 itself how long to wait", async () => {
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
