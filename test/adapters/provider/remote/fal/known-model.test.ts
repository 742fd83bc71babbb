import { err, ok } from "neverthrow";
import sharp from "sharp";
import { afterEach, describe, expect, it } from "vitest";
import { aCreationRequest, noon, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { leadingCharacters } from "../../../../../adapters/provider/remote/leading-prompt.js";
import { falOpenapi } from "../../../../support/fal-endpoints.js";
import { FAULTS } from "../../../../support/faulty-server.js";
import { hostedPictures } from "../../../../support/hosted-pictures.js";
import { type FalChoiceOptions, startFal } from "../../../../support/providers-under-test.js";

const LORA = "https://weights.example/360.safetensors";
const PICTURES = ["https://pictures.example/1.jpg", "https://pictures.example/2.jpg", "https://pictures.example/3.jpg"];

let remote: Awaited<ReturnType<typeof startFal>>;
afterEach(() => remote.close());

const started = async (options: FalChoiceOptions, storage = new MemoryObjectStorage()) => {
  remote = await startFal({ storage }, options);
  return remote;
};

const checked = async (options: FalChoiceOptions) => (await started(options)).provider.check();
const misconfigured = (reason: string) => err({ kind: "misconfigured", reason });

/** Submits a request with so many images, and reads its result: the fake refuses what the endpoint does not take. */
const made = async (images: number, n = 1) => {
  const request = aCreationRequest({ prompt: "a lake", image_urls: PICTURES.slice(0, images), resolution: "4k" });
  const id = (await remote.provider.submit({ taskId: taskId(n), request }))._unsafeUnwrap();
  expect((await remote.provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
  const task = remote.fake.tasks.at(-1);
  if (task === undefined) throw new Error("Nothing was started.");
  const { prompt, ...others } = task.input;
  return [remote.fake.endpointOf(task), others];
};

/** What the endpoint says about itself, changed by `edit`. */
const published = (id: string, edit: (input: { properties: Record<string, unknown>; required: string[] }) => void) => {
  const openapi = structuredClone(falOpenapi(id)) as { components: { schemas: { Input: never } } };
  edit(openapi.components.schemas.Input);
  remote.fake.schemas.set(id, openapi);
};

describe("endpoints that are not a preset", () => {
  it("get requests by their schemas: two endpoints with a LoRA", async () => {
    const pair = { model: "fal-ai/flux-2/lora", editModel: "fal-ai/flux-2/lora/edit", loraUrl: LORA };
    expect(await checked(pair)).toEqual(ok(undefined));
    expect(remote.provider.name).toBe("fal:fal-ai/flux-2/lora");
    const [place] = remote.provider.places();
    expect(place?.abilities).toEqual({ imagesMin: 0, imagesMax: 3, promptCharactersMax: 4000 });
    const others = { num_images: 1, output_format: "png", loras: [{ path: LORA, scale: 1 }] };
    // The endpoints' limit of 2048 pixels is not in their schemas.
    const request = aCreationRequest({ prompt: "a lake", image_urls: PICTURES, resolution: "2k" });
    (await remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();
    const [{ input } = { input: {} }] = remote.fake.tasks;
    expect(input).toEqual({
      prompt: expect.stringContaining("a lake"),
      image_urls: PICTURES,
      image_size: { width: 2048, height: 1024 },
      seed: correlationSeed(taskId(1)),
      ...others,
    });
  });

  it.each<[string, number, number, number, number]>([
    ["openai/gpt-image-2.5/sunburst/text-to-image", 0, 576, 1024, 1920],
    ["fal-ai/bytedance/seedream/v5/lite/text-to-image", 0, 1360, 1360, 1920],
    ["fal-ai/bytedance/seedream/v4/text-to-image", 0, 688, 1024, 1920],
    ["fal-ai/qwen-image-2/pro/edit", 1, 512, 1024, 1440],
    ["fal-ai/wan/v2.7/pro/edit", 1, 544, 896, 896],
    ["fal-ai/flux-2/lora", 0, 512, 1024, 1024],
  ])(
    "get sizes within the documented limits: %s, with %i images 2 × %i, %i and %i",
    async (model, images, ...heights) => {
      await started({ model, ...(model.endsWith("lora") && { loraUrl: LORA }) });
      expect(await remote.provider.check()).toEqual(ok(undefined));
      for (const [at, resolution] of (["1k", "2k", "4k"] as const).entries()) {
        const request = aCreationRequest({ prompt: "a lake", image_urls: PICTURES.slice(0, images), resolution });
        const id = (await remote.provider.submit({ taskId: taskId(at + 1), request }))._unsafeUnwrap();
        const height = heights[at] ?? 0;
        expect(remote.fake.tasks.at(-1)?.input).toMatchObject({ image_size: { width: 2 * height, height } });
        // The model checks it at the result.
        expect((await remote.provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
      }
    },
  );

  it("get no reference image that is smaller than they take", async () => {
    const storage = new MemoryObjectStorage();
    const flux3 = { model: "blackforestlabs/flux-3/text-to-image", editModel: "blackforestlabs/flux-3/edit-image" };
    await started(flux3, storage);
    expect(await remote.provider.check()).toEqual(ok(undefined));
    const image_urls = await hostedPictures(storage, 1);
    const request = aCreationRequest({ prompt: "a lake", image_urls });
    (await remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();
    const [task] = remote.fake.tasks;
    const sent = String(task?.input.image_urls).replace(/^[^,]*,/, "");
    const size = await sharp(Buffer.from(sent, "base64")).metadata();
    expect([size.width, size.height]).toEqual([397, 256]);
  });

  it("get the largest size within the limits of their schema", async () => {
    await started({ model: "fal-ai/flux-2/lora" });
    published("fal-ai/flux-2/lora", ({ properties }) => {
      const edge = { type: "integer", minimum: 512, maximum: 2048 };
      properties.image_size = { anyOf: [{ properties: { width: edge, height: edge } }, { enum: ["square"] }] };
    });
    expect(await remote.provider.check()).toEqual(ok(undefined));
    expect(await made(0)).toMatchObject(["fal-ai/flux-2/lora", { image_size: { width: 2048, height: 1024 } }]);
  });

  it("may be one endpoint for text and images, with sizes by ratio", async () => {
    expect(await checked({ model: "example/ratios" })).toEqual(ok(undefined));
    const size = { aspect_ratio: "2:1", resolution: "2K", seed: correlationSeed(taskId(1)) };
    expect(await made(0)).toEqual(["example/ratios", size]);
    expect(await made(3)).toEqual(["example/ratios", { image_urls: PICTURES, ...size }]);
  });

  it("may need an image, and keep fewer than three", async () => {
    expect(await checked({ model: "fal-ai/qwen-image-2/pro/edit" })).toEqual(ok(undefined));
    expect(remote.provider.places()[0]?.abilities).toEqual({
      imagesMin: 1,
      imagesMax: 2,
      promptCharactersMax: 800 - leadingCharacters(),
    });
    const request = aCreationRequest({ prompt: "a lake", image_urls: PICTURES });
    expect(remote.provider.checkRequest(request)._unsafeUnwrapErr()).toMatchObject({ field: "image_urls" });
  });

  it.each<[string, FalChoiceOptions, string]>([
    [
      "has no 2:1 size",
      { model: "fal-ai/nano-banana-pro" },
      "FAL_MODEL=fal-ai/nano-banana-pro: the endpoint has neither an image_size with width and height nor the " +
        "aspect_ratio 2:1; set another one",
    ],
    [
      "is for text, where one for images is wanted",
      { model: "fal-ai/flux-2/lora", editModel: "fal-ai/flux-lora" },
      "FAL_EDIT_MODEL=fal-ai/flux-lora: the endpoint has no image_urls and no image_url; set one that takes " +
        "reference images",
    ],
    [
      "is for images, where one for text is wanted",
      { model: "fal-ai/flux-2/lora/edit", editModel: "fal-ai/flux-2/lora/edit" },
      "FAL_MODEL=fal-ai/flux-2/lora/edit: the endpoint needs a reference image; set one for text, or unset " +
        "FAL_EDIT_MODEL",
    ],
    [
      "does not exist",
      { model: "fal-ai/flux-99" },
      "FAL_MODEL=fal-ai/flux-99: fal has no endpoint fal-ai/flux-99; set a model that it has",
    ],
    [
      "needs a mask",
      { model: "fal-ai/flux-2/lora", editModel: "fal-ai/flux-pro/v1/fill" },
      "FAL_EDIT_MODEL=fal-ai/flux-pro/v1/fill: the endpoint has neither an image_size with width and height nor the " +
        "aspect_ratio 2:1; set another one",
    ],
    [
      "has no mask for a canvas",
      { model: "fal-ai/flux-2/lora", editModel: "fal-ai/flux-2/lora/edit", references: "canvas" },
      "FAL_REFERENCES=canvas: the model has no mask_url; set separate, or a model that has one",
    ],
  ])("stop the start when an endpoint %s", async (_, options, reason) => {
    expect(await checked(options)).toEqual(misconfigured(reason));
  });

  it("stop the start when an endpoint needs an input that is not known", async () => {
    await started({ model: "example/ratios" });
    published("example/ratios", ({ properties, required }) => {
      properties.control = { type: "object" };
      required.push("control");
    });
    expect(await remote.provider.check()).toEqual(
      misconfigured(
        "FAL_MODEL=example/ratios: the endpoint needs the inputs control, which this service does not send; " +
          "set another one",
      ),
    );
  });

  it("get nothing while their schemas cannot be read, and everything afterwards", async () => {
    await started({ model: "example/ratios" });
    remote.fake.schemaFaults.push(FAULTS.failsBefore, FAULTS.html);
    expect((await remote.provider.check())._unsafeUnwrapErr().kind).toBe("unchecked");
    const order = { taskId: taskId(1), request: aCreationRequest({ prompt: "a lake" }) };
    expect(remote.provider.checkRequest(order.request).isOk()).toBe(true);
    expect((await remote.provider.submit(order))._unsafeUnwrapErr()).toEqual({
      kind: "refused",
      cause: "provider_unavailable",
      reason: "the answer is not JSON",
    });
    expect((await remote.provider.search(taskId(1), noon)).isErr()).toBe(true);
    expect(remote.fake.tasks).toEqual([]);
    await made(0);
  });

  it("refuses a request that exceeds the schema once it is read", async () => {
    await started({ model: "fal-ai/qwen-image-2/pro/edit" });
    const request = aCreationRequest({ prompt: "a lake", image_urls: PICTURES });
    const order = { taskId: taskId(1), request };
    expect((await remote.provider.submit(order))._unsafeUnwrapErr()).toEqual({
      kind: "refused",
      cause: "provider_unavailable",
      reason: "the model cannot keep the image_urls of the request",
    });
    expect(remote.fake.tasks).toEqual([]);
  });
});

describe("a preset", () => {
  it("works by its data while the schemas cannot be read", async () => {
    await started({});
    remote.fake.schemaFaults.push(FAULTS.failsBefore);
    expect((await remote.provider.check())._unsafeUnwrapErr().kind).toBe("unchecked");
    expect(await made(3)).toMatchObject(["fal-ai/bytedance/seedream/v4.5/edit", { image_urls: PICTURES }]);
  });

  it("stops the start when an endpoint does not exist any more", async () => {
    await started({});
    remote.fake.schemas.set("fal-ai/bytedance/seedream/v4.5/edit", undefined);
    expect(await remote.provider.check()).toEqual(
      misconfigured(
        "FAL_MODEL=seedream-4.5: fal has no endpoint fal-ai/bytedance/seedream/v4.5/edit; set a model that it has",
      ),
    );
  });

  it.each<[string, Parameters<typeof published>[1], string]>([
    ["has lost an input", ({ properties }) => delete properties.seed, "does not know the inputs seed"],
    [
      "needs another input",
      ({ required }) => required.push("strength"),
      "needs the inputs strength, which this service does not send",
    ],
    [
      "keeps fewer images",
      ({ properties }) => {
        properties.image_urls = { type: "array", maxItems: 2 };
      },
      "keeps 2 reference images",
    ],
    [
      "has sizes by name only",
      ({ properties }) => {
        properties.image_size = { enum: ["square"], type: "string" };
      },
      'does not allow image_size={"width":2720,"height":1360}',
    ],
  ])("stops the start when its endpoint %s", async (_, edit, what) => {
    await started({});
    published("fal-ai/bytedance/seedream/v4.5/edit", edit);
    expect(await remote.provider.check()).toEqual(
      misconfigured(
        `FAL_MODEL=seedream-4.5: fal's endpoint fal-ai/bytedance/seedream/v4.5/edit ${what}; set another model`,
      ),
    );
  });

  it("stops the start when its endpoints do not have the quality", async () => {
    expect(await checked({ model: "gpt-image-2.5", quality: "max" })).toEqual(ok(undefined));
    await remote.close();
    expect(await checked({ model: "gpt-image-2", quality: "max" })).toEqual(
      misconfigured("FAL_QUALITY=max: fal's endpoint openai/gpt-image-2 does not have it; set another quality"),
    );
  });

  it("is searched at both of its endpoints", async () => {
    await started({});
    for (const [n, images] of [
      [1, 0],
      [2, 3],
    ] as const) {
      remote.fake.faults.creates.push(FAULTS.cutAfter);
      const request = aCreationRequest({ prompt: "a lake", image_urls: PICTURES.slice(0, images) });
      expect((await remote.provider.submit({ taskId: taskId(n), request }))._unsafeUnwrapErr().kind).toBe("unknown");
    }
    for (let n = 0; n < 130; n += 1) remote.fake.tasks.push({ id: `other-${n}`, input: { seed: n }, state: "succeed" });
    const ids = remote.fake.tasks.slice(0, 2).map(({ id }) => id);
    for (const n of [1, 2]) {
      const path = `/fal-ai/bytedance/requests/${ids[n - 1]}`;
      expect(await remote.provider.search(taskId(n), noon)).toEqual(ok(`${path}/status ${path}`));
    }
    const lists = remote.fake.server.requests.filter(({ path }) => path.endsWith("/by-endpoint"));
    const asked = { start: "2026-01-01T11:55:00.000Z", expand: "payloads", limit: "100" };
    expect(lists.slice(-3).map(({ query }) => Object.fromEntries(query))).toEqual([
      { endpoint_id: "fal-ai/bytedance/seedream/v4.5/edit", ...asked },
      { endpoint_id: "fal-ai/bytedance/seedream/v4.5/text-to-image", ...asked, cursor: "100" },
      { endpoint_id: "fal-ai/bytedance/seedream/v4.5/edit", ...asked, cursor: "100" },
    ]);
  });
});
