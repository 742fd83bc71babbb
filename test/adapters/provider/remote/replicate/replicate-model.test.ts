import { err, ok } from "neverthrow";
import sharp from "sharp";
import { afterEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { referenceImageName } from "../../../../../domain/images/object-name.js";
import { type FakeReplicate, FLUX_360_VERSION } from "../../../../support/fake-replicate.js";
import { FAULTS, type Fault, refuses } from "../../../../support/faulty-server.js";
import { REPLICATE_MODEL, startUncheckedReplicate } from "../../../../support/providers-under-test.js";
import {
  type FakeSchema,
  FLUX_2_SCHEMA,
  SEEDREAM_SCHEMA,
  TRAINER_SCHEMA,
  without,
} from "../../../../support/replicate-models.js";
import { plain } from "../../../../support/test-images.js";

const LORA = "igorriti/flux-360";
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

/** Makes the model have one version with this schema. */
const haveSchema = (fake: FakeReplicate, schema: FakeSchema) => {
  fake.models = [{ name: LORA, official: false, versions: [{ id: LATEST, schema }] }];
};

describe("the version of REPLICATE_MODEL", () => {
  it("is the latest if the name has no version", async () => {
    const { provider, fake } = await started(LORA);
    expect(await provider.check()).toEqual(ok(undefined));
    expect((await provider.submit(anOrder())).isOk()).toBe(true);
    expect(sentVersions(fake)).toEqual([LATEST]);
    expect(paths(fake)).toEqual([`GET /v1/models/${LORA}`, "POST /v1/predictions"]);
  });

  it("is the configured version, not the latest", async () => {
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

  it("is reported as misconfigured if the model has no versions", async () => {
    const { provider, fake } = await started(LORA);
    fake.models = [{ name: LORA, official: false, versions: [] }];
    const reason =
      `REPLICATE_MODEL=${LORA}: the model has no version that can be run; ` +
      "set bytedance/seedream-4 or another model";
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason }));
  });

  it.each<[string, FakeSchema, string]>([
    ["no prompt", without(TRAINER_SCHEMA, ["prompt"]), "has no input prompt"],
    [
      "no width",
      without(TRAINER_SCHEMA, ["width"]),
      "takes no width and height of its own: neither size nor aspect_ratio can be custom",
    ],
    [
      "no custom size",
      { ...SEEDREAM_SCHEMA, enums: { ...SEEDREAM_SCHEMA.enums, size: ["2K"] } },
      "takes no width and height of its own: neither size nor aspect_ratio can be custom",
    ],
    [
      "only squares",
      { ...TRAINER_SCHEMA, properties: { ...TRAINER_SCHEMA.properties, width: { type: "integer", maximum: 400 } } },
      "makes no picture that is twice as wide as high",
    ],
    [
      "an input that it needs and nobody knows",
      { ...SEEDREAM_SCHEMA, required: ["prompt", "openai_api_key"] },
      "needs the inputs openai_api_key, which this service does not send",
    ],
  ])("is misconfigured if it has %s", async (_, schema, why) => {
    const { provider, fake } = await started(LORA);
    haveSchema(fake, schema);
    const reason = `REPLICATE_MODEL=${LORA}: the model ${why}; set bytedance/seedream-4 or another model`;
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason }));
    expect(await provider.submit(anOrder())).toEqual(err({ kind: "refused", reason, cause: "provider_unavailable" }));
    expect(fake.tasks).toEqual([]);
  });

  it("uses prompt_strength 0.6 for a photo if the model has no mask", async () => {
    const storage = new MemoryObjectStorage();
    const { provider, fake } = await started(LORA, storage);
    haveSchema(fake, without(TRAINER_SCHEMA, ["mask"]));
    expect(await provider.check()).toEqual(ok(undefined));
    const photo = referenceImageName("ab".repeat(11), "image/png");
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
  ])("is looked up before the first creation if the check %s", async (_, fault) => {
    const { provider, fake } = await started(LORA);
    fake.faults.checks.push(fault, fault);
    expect((await provider.check()).isErr()).toBe(true);
    expect((await provider.submit(anOrder(1)))._unsafeUnwrapErr()).toEqual({
      kind: "refused",
      cause: "provider_unavailable",
      reason: expect.stringMatching(/./),
    });
    expect(sentVersions(fake)).toEqual([]);
    expect((await provider.submit(anOrder(2))).isOk()).toBe(true);
    expect(sentVersions(fake)).toEqual([LATEST]);
  });

  it("is read once for concurrent creations", async () => {
    const { provider, fake } = await started(LORA);
    const submitted = await Promise.all([1, 2, 3, 4].map((n) => provider.submit(anOrder(n))));
    expect(submitted.every((one) => one.isOk())).toBe(true);
    expect(paths(fake).filter((path) => path.startsWith("GET"))).toHaveLength(1);
    expect(sentVersions(fake)).toEqual([LATEST, LATEST, LATEST, LATEST]);
  });
});

/** What the models of PROVIDERS.md keep. */
const MODELS = [
  ["bytedance/seedream-4", 3, { "1k": [2048, 1024], "2k": [2048, 1024], "4k": [3840, 1920] }],
  ["black-forest-labs/flux-2-pro", 3, { "1k": [1024, 512], "2k": [2048, 1024], "4k": [2048, 1024] }],
  [LORA, 1, { "1k": [1024, 512], "2k": [1440, 720], "4k": [1440, 720] }],
] as const;

describe.each(MODELS)("%s", (model, imagesMax, sizes) => {
  it("reports its abilities", async () => {
    const { provider } = await started(model);
    await provider.check();
    const [place] = provider.places();
    expect(place).toMatchObject({
      name: `replicate:${model}`,
      abilities: { imagesMin: 0, imagesMax, promptCharactersMax: 4000 },
    });
  });

  it.each(["1k", "2k", "4k"] as const)("receives the documented input at %s", async (resolution) => {
    const { provider, fake } = await started(model);
    await provider.check();
    for (const [count, prompt] of [
      [0, "a lake"],
      [1, undefined],
      [2, "a lake"],
      [3, "a lake"],
    ] as const) {
      const image_urls = Array.from({ length: count }, (_, n) => `https://pictures.example/${n}.jpg`);
      const request = aCreationRequest({ resolution, prompt, image_urls });
      if (count > imagesMax) {
        expect(provider.checkRequest(request).isErr()).toBe(true);
        continue;
      }
      expect((await provider.submit({ taskId: taskId(count + 1), request })).isOk()).toBe(true);
      const task = fake.tasks.at(-1);
      if (task === undefined) throw new Error("nothing was started");
      const [width, height] = sizes[resolution];
      expect(fake.referencesOf(task)).toEqual(image_urls);
      expect(fake.sizeOf(task)).toEqual({ width, height });
      expect(fake.promptOf(task)).toContain(prompt ?? "360");
    }
  });

  it("refuses too many reference images, also before its schema is read", async () => {
    const { provider, fake } = await started(model);
    const image_urls = Array.from({ length: 3 }, (_, n) => `https://pictures.example/${n}.jpg`);
    const submitted = await provider.submit({ taskId: taskId(1), request: aCreationRequest({ image_urls }) });
    expect(submitted.isOk()).toBe(imagesMax === 3);
    expect(fake.tasks).toHaveLength(imagesMax === 3 ? 1 : 0);
  });
});

describe("a hosted reference image of a model with a list", () => {
  it.each([
    ["small one as a data URI", 10, /^data:image\/png;base64,/],
    ["large one as an uploaded file, whole", 400, /\/v1\/files\/file-1$/],
  ])("is uploaded and sent: a %s", async (_, edgePixels, sent) => {
    const storage = new MemoryObjectStorage();
    const { provider, fake } = await started("bytedance/seedream-4", storage);
    const noise = Buffer.from(Array.from({ length: edgePixels ** 2 * 3 }, (_, n) => (n * n * 7919) % 251));
    const raw = { width: edgePixels, height: edgePixels, channels: 3 } as const;
    const bytes = await sharp(noise, { raw }).png({ compressionLevel: 0 }).toBuffer();
    const name = referenceImageName("ab".repeat(11), "image/png");
    await storage.put(name, bytes, "image/png");
    const request = aCreationRequest({ image_urls: [storage.urlOf(name)] });
    expect((await provider.submit({ taskId: taskId(1), request })).isOk()).toBe(true);
    const [task] = fake.tasks;
    expect(task && fake.referencesOf(task)).toEqual([expect.stringMatching(sent)]);
  });

  it.each([
    ["500", FAULTS.failsBefore, 30_000],
    ["429", refuses(429), 30_000],
    ["429 with Retry-After", refuses(429, { "retry-after": "7" }), 7_000],
    ["a cut connection", FAULTS.cutBefore, 30_000],
  ])("is not accepted now: the creation waits and nothing is started: %s", async (_, fault, milliseconds) => {
    const storage = new MemoryObjectStorage();
    const { provider, fake } = await started("bytedance/seedream-4", storage);
    const name = referenceImageName("cd".repeat(11), "image/png");
    const plane = plain({ widthPixels: 1000, heightPixels: 1000 }).png({ compressionLevel: 0 });
    await storage.put(name, await plane.toBuffer(), "image/png");
    fake.uploadFaults.push(fault);
    const request = aCreationRequest({ image_urls: [storage.urlOf(name)] });
    const submitted = await provider.submit({ taskId: taskId(1), request });
    expect(submitted._unsafeUnwrapErr()).toEqual({
      kind: "busy",
      reason: expect.stringContaining("the upload of a reference image"),
      retryAfterMilliseconds: milliseconds,
    });
    expect(fake.tasks).toEqual([]);
  });
});

it("does not search for a lost submission of a model without a seed", async () => {
  const { provider, fake } = await started("bytedance/seedream-4");
  await provider.check();
  fake.faults.creates.push(FAULTS.cutAfter);
  expect((await provider.submit(anOrder()))._unsafeUnwrapErr().kind).toBe("unknown");
  expect(fake.tasks).toHaveLength(1);
  expect((await provider.search(taskId(1), new Date(0)))._unsafeUnwrapErr().kind).toBe("provider_unavailable");
});

describe("FakeReplicate", () => {
  const sendTo = async (fake: FakeReplicate, version: string, inputs: object = {}) => {
    const input = { prompt: "a lake", width: 1440, height: 720, ...inputs };
    const answer = await fetch(`${fake.baseUrl}/predictions`, {
      method: "POST",
      headers: { authorization: "Bearer r8_secret" },
      body: JSON.stringify({ version, input }),
    });
    return answer.status;
  };

  it("refuses the same requests as Replicate", async () => {
    const { fake } = await started(LORA);
    const official = {
      name: "official/flux",
      official: true,
      versions: [{ id: "0f".repeat(32), schema: FLUX_2_SCHEMA }],
    };
    fake.models = [...fake.models, official];
    expect(await sendTo(fake, LATEST)).toBe(201);
    expect(await sendTo(fake, `${LORA}:${LATEST}`)).toBe(201);
    expect(await sendTo(fake, "official/flux")).toBe(201);
    expect(await sendTo(fake, LORA)).toBe(422);
    expect(await sendTo(fake, "00".repeat(32))).toBe(422);
    expect(await sendTo(fake, LATEST, { negative_prompt: "fog" })).toBe(422);
    expect(await sendTo(fake, LATEST, { width: 2048 })).toBe(422);
    expect(await sendTo(fake, "official/flux", { aspect_ratio: "2:1" })).toBe(422);
    expect(await sendTo(fake, "official/flux", { input_images: Array(9).fill("https://a.example") })).toBe(422);
    expect(await sendTo(fake, LATEST, { image: `data:image/png;base64,${"A".repeat(256_000)}` })).toBe(422);
  });
});
