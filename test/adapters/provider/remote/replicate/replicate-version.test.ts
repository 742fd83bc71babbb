import { err, ok } from "neverthrow";
import { afterEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../../adapters/contracts/builders.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { referenceImageName } from "../../../../../domain/object-name.js";
import { type FakeReplicate, FLUX_360_VERSION, TRAINER_INPUTS } from "../../../../support/fake-replicate.js";
import { FAULTS, type Fault, refuses } from "../../../../support/faulty-server.js";
import { REPLICATE_MODEL, startUncheckedReplicate } from "../../../../support/providers-under-test.js";
import { plain } from "../../../../support/test-images.js";

const DEFAULT_MODEL = "igorriti/flux-360";
const LATEST = "d2".repeat(32);

let close = async () => {};
afterEach(() => close());

const started = async (model: string, storage = new MemoryObjectStorage()) => {
  const remote = await startUncheckedReplicate({ storage }, model);
  close = remote.close;
  return remote;
};

const anOrder = (n = 1) => ({ taskId: taskId(n), request: aCreationRequest({ prompt: "a lake" }) });
const paths = (fake: FakeReplicate) => fake.server.requests.map(({ method, path }) => `${method} ${path}`);
const sentVersions = (fake: FakeReplicate) =>
  fake.server.requests
    .filter(({ method }) => method === "POST")
    .map(({ body }) => (body as { version: string }).version);

/** Makes the model have one version with these inputs. */
const haveInputs = (fake: FakeReplicate, inputs: readonly string[]) => {
  fake.models = [{ name: DEFAULT_MODEL, official: false, versions: [{ id: LATEST, inputs }] }];
};

describe("the version of REPLICATE_MODEL", () => {
  it("is the latest one of a model that is named without a version", async () => {
    const { provider, fake } = await started(DEFAULT_MODEL);
    expect(await provider.check()).toEqual(ok(undefined));
    expect((await provider.submit(anOrder())).isOk()).toBe(true);
    expect(sentVersions(fake)).toEqual([LATEST]);
    expect(paths(fake)).toEqual([`GET /v1/models/${DEFAULT_MODEL}`, "POST /v1/predictions"]);
  });

  it("is the one that is set, although there is a later one", async () => {
    const { provider, fake } = await started(REPLICATE_MODEL);
    expect(await provider.check()).toEqual(ok(undefined));
    expect((await provider.submit(anOrder())).isOk()).toBe(true);
    expect(sentVersions(fake)).toEqual([FLUX_360_VERSION]);
    expect(paths(fake)[0]).toBe(`GET /v1/models/owner/flux-360/versions/${FLUX_360_VERSION}`);
  });

  it.each([
    ["owner/unknown", "model"],
    [`owner/unknown:${FLUX_360_VERSION}`, "version of a model"],
    [`owner/flux-360:${"00".repeat(32)}`, "version of a model"],
  ])("is misconfigured if the provider does not have it: %s", async (model, what) => {
    const { provider } = await started(model);
    const reason = `REPLICATE_MODEL=${model}: the provider has no such ${what}; set one that it has`;
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason }));
  });

  it("is misconfigured if the model has none", async () => {
    const { provider, fake } = await started(DEFAULT_MODEL);
    fake.models = [{ name: DEFAULT_MODEL, official: false, versions: [] }];
    const reason = `REPLICATE_MODEL=${DEFAULT_MODEL}: the model has no version that can be run; set another`;
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason }));
  });

  it.each([
    [["seed"], "seed"],
    [["prompt_strength", "width", "image"], "width, image, prompt_strength"],
  ])("is misconfigured if it does not know %j", async (unknown, named) => {
    const { provider, fake } = await started(DEFAULT_MODEL);
    haveInputs(
      fake,
      TRAINER_INPUTS.filter((name) => !unknown.includes(name)),
    );
    const reason =
      `REPLICATE_MODEL=${DEFAULT_MODEL}: version ${LATEST} does not know the inputs ${named}; ` +
      "set a FLUX.1 LoRA that the platform's own trainer has made";
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason }));
    expect(await provider.submit(anOrder())).toEqual(err({ kind: "refused", reason }));
    expect(fake.tasks).toEqual([]);
  });

  it("may know no mask: then a photo is kept by a lower prompt_strength", async () => {
    const storage = new MemoryObjectStorage();
    const { provider, fake } = await started(DEFAULT_MODEL, storage);
    haveInputs(
      fake,
      TRAINER_INPUTS.filter((name) => name !== "mask"),
    );
    expect(await provider.check()).toEqual(ok(undefined));
    const photo = referenceImageName("ab".repeat(32), "image/png");
    await storage.put(photo, await plain({ widthPixels: 300, heightPixels: 200 }).png().toBuffer(), "image/png");
    const request = aCreationRequest({ image_urls: [storage.urlOf(photo)] });
    expect((await provider.submit({ taskId: taskId(1), request })).isOk()).toBe(true);
    expect(fake.tasks[0]?.input).toMatchObject({ prompt_strength: 0.6 });
    expect(fake.tasks[0]?.input).not.toHaveProperty("mask");
  });

  it.each<[string, Fault]>([
    ["fails with status 500", FAULTS.failsBefore],
    ["has no connection", FAULTS.cutBefore],
    ["gets HTML", FAULTS.html],
    ["gets a model without a schema", FAULTS.noId],
    ["gets status 401", refuses(401)],
  ])("is found before the first creation if the check %s; without it nothing is sent", async (_, fault) => {
    const { provider, fake } = await started(DEFAULT_MODEL);
    fake.faults.checks.push(fault, fault);
    expect((await provider.check()).isErr()).toBe(true);
    expect((await provider.submit(anOrder(1)))._unsafeUnwrapErr()).toEqual({
      kind: "refused",
      reason: expect.stringMatching(/./),
    });
    expect(sentVersions(fake)).toEqual([]);
    expect((await provider.submit(anOrder(2))).isOk()).toBe(true);
    expect(sentVersions(fake)).toEqual([LATEST]);
  });

  it("is read once for concurrent creations", async () => {
    const { provider, fake } = await started(DEFAULT_MODEL);
    const submitted = await Promise.all([1, 2, 3, 4].map((n) => provider.submit(anOrder(n))));
    expect(submitted.every((one) => one.isOk())).toBe(true);
    expect(paths(fake).filter((path) => path.startsWith("GET"))).toHaveLength(1);
    expect(sentVersions(fake)).toEqual([LATEST, LATEST, LATEST, LATEST]);
  });
});

describe("FakeReplicate", () => {
  const sendTo = async (fake: FakeReplicate, version: string, inputs: object = {}) => {
    const input = { prompt: "a lake", width: 1440, height: 720, seed: 1, ...inputs };
    const answer = await fetch(`${fake.baseUrl}/predictions`, {
      method: "POST",
      headers: { authorization: "Bearer r8_secret" },
      body: JSON.stringify({ version, input }),
    });
    return answer.status;
  };

  it("refuses what Replicate refuses", async () => {
    const { fake } = await started(DEFAULT_MODEL);
    const official = {
      name: "official/flux",
      official: true,
      versions: [{ id: "0f".repeat(32), inputs: TRAINER_INPUTS }],
    };
    fake.models = [...fake.models, official];
    expect(await sendTo(fake, LATEST)).toBe(201);
    expect(await sendTo(fake, `${DEFAULT_MODEL}:${LATEST}`)).toBe(201);
    expect(await sendTo(fake, "official/flux")).toBe(201);
    expect(await sendTo(fake, DEFAULT_MODEL)).toBe(422);
    expect(await sendTo(fake, "00".repeat(32))).toBe(422);
    expect(await sendTo(fake, LATEST, { negative_prompt: "fog" })).toBe(422);
    expect(await sendTo(fake, LATEST, { width: 2048 })).toBe(422);
    expect(await sendTo(fake, LATEST, { image: `data:image/png;base64,${"A".repeat(256_000)}` })).toBe(422);
  });
});
