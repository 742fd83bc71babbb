import { err, ok } from "neverthrow";
import sharp from "sharp";
import { afterEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { leadingCharacters } from "../../../../../adapters/provider/remote/leading-prompt.js";
import { type FakeReplicate, FLUX_360_VERSION } from "../../../../support/fake-replicate.js";
import { FAULTS, type Fault } from "../../../../support/faulty-server.js";
import { hostedPicture } from "../../../../support/hosted-pictures.js";
import { REPLICATE_MODEL, startUncheckedReplicate } from "../../../../support/providers-under-test.js";
import { type FakeSchema, SEEDREAM_SCHEMA, TRAINER_SCHEMA, without } from "../../../../support/replicate-models.js";
import { plain } from "../../../../support/test-images.js";

const LORA = "igorriti/flux-360";
const LATEST = "d2".repeat(32);
const PREFIX = "TOK, 360 degree equirectangular panorama, seamless, ";

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
  fake.models = [{ name: LORA, official: true, versions: [{ id: LATEST, schema }] }];
};
const withProperty = (schema: FakeSchema, name: string, property: object): FakeSchema => ({
  ...schema,
  properties: { ...schema.properties, [name]: { ...schema.properties[name], ...property } },
});

describe("the version of REPLICATE_MODEL", () => {
  it.each([
    ["the latest one if the name has none", LORA, LATEST, `GET /v1/models/${LORA}`],
    [
      "the configured one",
      REPLICATE_MODEL,
      FLUX_360_VERSION,
      `GET /v1/models/owner/flux-360/versions/${FLUX_360_VERSION}`,
    ],
  ])("is %s", async (_, model, version, read) => {
    const { provider, fake } = await started(model);
    expect(await provider.check()).toEqual(ok(undefined));
    expect((await provider.submit(anOrder())).isOk()).toBe(true);
    expect(sentVersions(fake)).toEqual([version]);
    expect(paths(fake)).toEqual([read, "POST /v1/predictions"]);
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

  it("is misconfigured if the model has no versions", async () => {
    const { provider, fake } = await started(LORA);
    fake.models = [{ name: LORA, official: false, versions: [] }];
    const why = "the model has no version that can be run; set bytedance/seedream-4 or another model";
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason: `REPLICATE_MODEL=${LORA}: ${why}` }));
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
      withProperty(TRAINER_SCHEMA, "width", { maximum: 400 }),
      "makes no picture that is twice as wide as high",
    ],
    [
      "an input that it needs and nobody knows",
      { ...SEEDREAM_SCHEMA, required: ["prompt", "openai_api_key"] },
      "needs the inputs openai_api_key, which this service does not send",
    ],
  ])("is misconfigured, and gets nothing, if it has %s", async (_, schema, why) => {
    const { provider, fake } = await started(LORA);
    haveSchema(fake, schema);
    const reason = `REPLICATE_MODEL=${LORA}: the model ${why}; set bytedance/seedream-4 or another model`;
    expect(await provider.check()).toEqual(err({ kind: "misconfigured", reason }));
    expect(await provider.submit(anOrder())).toEqual(err({ kind: "refused", reason, cause: "provider_unavailable" }));
    expect(fake.tasks).toEqual([]);
  });

  it.each<[string, Fault]>([
    ["has no connection", FAULTS.cutBefore],
    ["gets a model without a schema", FAULTS.noId],
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
  });
});

describe("the longest prompt of a model", () => {
  it.each<[string, FakeSchema, number | undefined, number]>([
    ["without a limit", TRAINER_SCHEMA, undefined, 4000],
    ["with a trigger word", TRAINER_SCHEMA, 1000, 1000 - PREFIX.length],
    ["with a trigger word, and a limit just above that of the service", TRAINER_SCHEMA, 4010, 4010 - PREFIX.length],
    ["that needs instructions", SEEDREAM_SCHEMA, 1000, 1000 - leadingCharacters()],
  ])("%s fits with what is sent before it", async (_, schema, maxLength, expected) => {
    const { provider, fake } = await started(LORA);
    haveSchema(fake, withProperty(schema, "prompt", { maxLength }));
    expect(await provider.check()).toEqual(ok(undefined));
    expect(provider.places()[0]?.abilities?.promptCharactersMax).toBe(expected);
    const request = aCreationRequest({ prompt: "x".repeat(expected) });
    expect((await provider.submit({ taskId: taskId(1), request })).isOk()).toBe(true);
    const sent = fake.promptOf(fake.tasks[0]!);
    expect(sent).toContain(request.prompt);
    expect(sent.length).toBeLessThanOrEqual(maxLength ?? Number.POSITIVE_INFINITY);
  });
});

describe("a reference image", () => {
  it("beyond what the model takes is refused, also before its schema is read", async () => {
    const { provider, fake } = await started(LORA);
    const image_urls = [1, 2, 3].map((n) => `https://pictures.example/${n}.jpg`);
    const submitted = await provider.submit({ taskId: taskId(1), request: aCreationRequest({ image_urls }) });
    expect(submitted._unsafeUnwrapErr().kind).toBe("refused");
    expect(fake.tasks).toEqual([]);
  });

  it("has prompt_strength 0.6 if the model has no mask", async () => {
    const storage = new MemoryObjectStorage();
    const { provider, fake } = await started(LORA, storage);
    haveSchema(fake, without(TRAINER_SCHEMA, ["mask"]));
    const photo = await plain({ widthPixels: 300, heightPixels: 200 }).png().toBuffer();
    const request = aCreationRequest({ image_urls: [await hostedPicture(storage, photo)] });
    expect((await provider.submit({ taskId: taskId(1), request })).isOk()).toBe(true);
    expect(fake.tasks[0]?.input).toMatchObject({ prompt_strength: 0.6 });
    expect(fake.tasks[0]?.input).not.toHaveProperty("mask");
  });

  it.each([
    ["small one as a data URI", 10, /^data:image\/png;base64,/],
    ["large one as an uploaded file, whole", 400, /\/v1\/files\/file-1$/],
  ])("of a list is sent: a %s", async (_, edgePixels, sent) => {
    const storage = new MemoryObjectStorage();
    const { provider, fake } = await started("bytedance/seedream-4", storage);
    const noise = Buffer.from(Array.from({ length: edgePixels ** 2 * 3 }, (_, n) => (n * n * 7919) % 251));
    const raw = { width: edgePixels, height: edgePixels, channels: 3 } as const;
    const bytes = await sharp(noise, { raw }).png({ compressionLevel: 0 }).toBuffer();
    const request = aCreationRequest({ image_urls: [await hostedPicture(storage, bytes)] });
    expect((await provider.submit({ taskId: taskId(1), request })).isOk()).toBe(true);
    expect(fake.referencesOf(fake.tasks[0]!)).toEqual([expect.stringMatching(sent)]);
  });
});
