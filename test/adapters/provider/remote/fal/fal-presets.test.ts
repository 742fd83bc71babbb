import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { MemoryObjectStorage } from "../../../../../adapters/memory/memory-object-storage.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { FAL_PRESETS, type FalPresetName } from "../../../../../adapters/provider/remote/fal/fal-presets.js";
import { leadingCharacters, leadingPrompt } from "../../../../../adapters/provider/remote/leading-prompt.js";
import { referenceImageName } from "../../../../../domain/images/object-name.js";
import { RESOLUTION_NAMES, type Resolution } from "../../../../../domain/images/resolution.js";
import { startFal } from "../../../../support/providers-under-test.js";
import { plain } from "../../../../support/test-images.js";

const LORA = "https://weights.example/360.safetensors";
const FOREIGN = ["https://pictures.example/1.jpg", "https://pictures.example/2.png", "https://pictures.example/3.webp"];

type Expected = {
  readonly text?: string;
  readonly edit?: string;
  readonly images: readonly [min: number, max: number];
  readonly sizes: Readonly<Record<Resolution, object>>;
  /** Sent with every request beside prompt, size and images. */
  readonly others: object;
  readonly led: boolean;
};

const pixels = (width: number, height: number) => ({ image_size: { width, height } });
const SEED = { seed: correlationSeed(taskId(1)) };
const GPT_SIZES = { "1k": pixels(1152, 576), "2k": pixels(2048, 1024), "4k": pixels(3840, 1920) };
const FLUX_SIZES = { "1k": pixels(1024, 512), "2k": pixels(2048, 1024), "4k": pixels(2048, 1024) };

const EXPECTED: Readonly<Record<FalPresetName, Expected>> = {
  "seedream-4.5": {
    text: "fal-ai/bytedance/seedream/v4.5/text-to-image",
    edit: "fal-ai/bytedance/seedream/v4.5/edit",
    images: [0, 3],
    sizes: { "1k": pixels(2720, 1360), "2k": pixels(2720, 1360), "4k": pixels(3840, 1920) },
    others: { num_images: 1, max_images: 1, ...SEED },
    led: true,
  },
  "gpt-image-2": {
    text: "openai/gpt-image-2",
    edit: "openai/gpt-image-2/edit",
    images: [0, 3],
    sizes: GPT_SIZES,
    others: { num_images: 1, output_format: "png", quality: "medium" },
    led: true,
  },
  "gpt-image-2.5": {
    text: "openai/gpt-image-2.5/flare/text-to-image",
    edit: "openai/gpt-image-2.5/flare/edit",
    images: [0, 3],
    sizes: GPT_SIZES,
    others: { num_images: 1, output_format: "jpeg", output_compression: 95, quality: "medium" },
    led: true,
  },
  "flux-2": {
    text: "fal-ai/flux-2",
    edit: "fal-ai/flux-2/edit",
    images: [0, 3],
    sizes: FLUX_SIZES,
    others: { num_images: 1, output_format: "png", ...SEED },
    led: true,
  },
  "flux-3": {
    text: "blackforestlabs/flux-3/text-to-image",
    edit: "blackforestlabs/flux-3/edit-image",
    images: [0, 3],
    sizes: {
      "1k": { aspect_ratio: "2:1", resolution: "1k" },
      "2k": { aspect_ratio: "2:1", resolution: "2k" },
      "4k": { aspect_ratio: "2:1", resolution: "4k" },
    },
    others: { output_format: "jpeg" },
    led: true,
  },
  "hunyuan-world": {
    edit: "fal-ai/hunyuan_world",
    images: [1, 1],
    sizes: { "1k": {}, "2k": {}, "4k": {} },
    others: {},
    led: false,
  },
  "flux-lora": {
    text: "fal-ai/flux-lora",
    images: [0, 0],
    sizes: FLUX_SIZES,
    others: { num_images: 1, output_format: "png", loras: [{ path: LORA, scale: 1 }], ...SEED },
    led: false,
  },
};

/** What a customer may send: a prompt, one to three reference images, or both. */
const REQUESTS = [
  { prompt: "a lake", image_urls: [] },
  ...[1, 2, 3].flatMap((count) => [
    { prompt: undefined, image_urls: FOREIGN.slice(0, count) },
    { prompt: "a lake", image_urls: FOREIGN.slice(0, count) },
  ]),
];

describe.each(Object.keys(FAL_PRESETS) as FalPresetName[])("fal with FAL_MODEL=%s", (model) => {
  const expected = EXPECTED[model];
  let remote: Awaited<ReturnType<typeof startFal>>;
  let storage: MemoryObjectStorage;

  beforeEach(async () => {
    storage = new MemoryObjectStorage();
    const failOnWarning = (warning: string) => {
      throw new Error(warning);
    };
    remote = await startFal({ storage, warn: failOnWarning }, { model, loraUrl: LORA });
  });
  afterEach(() => remote.close());

  it("carries the name of the model, and agrees with fal's published schemas", async () => {
    expect(remote.provider.name).toBe(`fal:${model}`);
    expect(remote.provider.account).toBe("fal");
    expect((await remote.provider.check()).isOk()).toBe(true);
    const read = remote.fake.server.requests.filter(({ path }) => path === "/v1/models");
    const ids = [expected.text, expected.edit].filter((id) => id !== undefined);
    expect(read.map(({ query }) => query.get("endpoint_id"))).toEqual(ids);
  });

  it("reports its abilities", () => {
    const [imagesMin, imagesMax] = expected.images;
    expect(remote.provider.places().map(({ abilities }) => abilities)).toEqual([
      { imagesMin, imagesMax, promptCharactersMax: 4000 },
    ]);
    expect(32_000 - leadingCharacters()).toBeGreaterThan(4000);
  });

  it.each(REQUESTS.flatMap((body) => RESOLUTION_NAMES.map((resolution) => ({ ...body, resolution }))))(
    "sends every field of a request, or refuses it before: %j",
    async (body) => {
      const request = aCreationRequest(body);
      const [imagesMin, imagesMax] = expected.images;
      const count = body.image_urls.length;
      const { provider, fake } = remote;
      if (count < imagesMin || count > imagesMax) {
        expect(provider.checkRequest(request)._unsafeUnwrapErr().field).toBe("image_urls");
        const refused = (await provider.submit({ taskId: taskId(1), request }))._unsafeUnwrapErr();
        expect([refused.kind, fake.tasks]).toEqual(["refused", []]);
        return;
      }
      expect(provider.checkRequest(request).isOk()).toBe(true);
      const id = (await provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();
      expect((await provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
      const [task] = fake.tasks;
      if (task === undefined) throw new Error("Nothing was started.");
      expect(fake.endpointOf(task)).toBe(count === 0 ? expected.text : expected.edit);
      expect(fake.referencesOf(task)).toEqual(body.image_urls);
      const { image_size: asked } = expected.sizes[body.resolution] as { image_size?: object };
      expect(fake.sizeOf(task)).toEqual(asked);
      const { prompt, image_urls, image_url, ...others } = task.input;
      expect(prompt).toBe(expected.led ? leadingPrompt(request) : ofTrained(model, body.prompt));
      expect(others).toEqual({ ...expected.sizes[body.resolution], ...expected.others });
    },
  );

  it("sends images that this service hosts as bytes, in their order", async () => {
    const [, imagesMax] = expected.images;
    const pictures = await Promise.all(
      ["#d01030", "#10d030", "#3010d0"].slice(0, imagesMax).map((color) => {
        return plain({ widthPixels: 300, heightPixels: 256 }, color).png().toBuffer();
      }),
    );
    const urls: string[] = [];
    for (const [index, bytes] of pictures.entries()) {
      const name = referenceImageName(`${index}a`.repeat(11), "image/png");
      await storage.put(name, bytes, "image/png");
      urls.push(storage.urlOf(name));
    }
    const request = aCreationRequest({ prompt: "a lake", image_urls: urls });
    const id = (await remote.provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();
    expect((await remote.provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
    const [task] = remote.fake.tasks;
    if (task === undefined) throw new Error("Nothing was started.");
    const expectedUris = pictures.map((bytes) => `data:image/png;base64,${bytes.toString("base64")}`);
    expect(remote.fake.referencesOf(task)).toEqual(expectedUris);
  });
});

const ofTrained = (model: FalPresetName, prompt: string | undefined): string =>
  model === "flux-lora"
    ? `360 degree equirectangular panorama, seamless, ${prompt}`
    : (prompt ?? "a photorealistic panorama of the place in the picture");
