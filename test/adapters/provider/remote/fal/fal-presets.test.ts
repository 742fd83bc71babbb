import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../../../adapters/contracts/support/builders.js";
import { correlationSeed } from "../../../../../adapters/provider/remote/dialect.js";
import { FAL_PRESETS, type FalPresetName } from "../../../../../adapters/provider/remote/fal/fal-presets.js";
import { leadingCharacters, leadingPrompt } from "../../../../../adapters/provider/remote/leading-prompt.js";
import { RESOLUTION_NAMES, type Resolution } from "../../../../../domain/images/resolution.js";
import { startFal } from "../../../../support/providers-under-test.js";

const LORA = "https://weights.example/360.safetensors";
const FOREIGN = ["https://pictures.example/1.jpg", "https://pictures.example/2.png", "https://pictures.example/3.webp"];

type Expected = {
  readonly text?: string;
  readonly edit?: string;
  readonly images: readonly [min: number, max: number];
  readonly sizes: Readonly<Record<Resolution, object>>;
  /** Sent with every request beside prompt, size and images. */
  readonly others: object;
  /** Of a model that was trained on panoramas; the others get instructions. */
  readonly prompt?: string;
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
  },
  "gpt-image-2": {
    text: "openai/gpt-image-2",
    edit: "openai/gpt-image-2/edit",
    images: [0, 3],
    sizes: GPT_SIZES,
    others: { num_images: 1, output_format: "png", quality: "medium" },
  },
  "gpt-image-2.5": {
    text: "openai/gpt-image-2.5/flare/text-to-image",
    edit: "openai/gpt-image-2.5/flare/edit",
    images: [0, 3],
    sizes: GPT_SIZES,
    others: { num_images: 1, output_format: "jpeg", output_compression: 95, quality: "medium" },
  },
  "flux-2": {
    text: "fal-ai/flux-2",
    edit: "fal-ai/flux-2/edit",
    images: [0, 3],
    sizes: FLUX_SIZES,
    others: { num_images: 1, output_format: "png", ...SEED },
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
  },
  "hunyuan-world": {
    edit: "fal-ai/hunyuan_world",
    images: [1, 1],
    sizes: { "1k": {}, "2k": {}, "4k": {} },
    others: {},
    prompt: "a lake",
  },
  "flux-lora": {
    text: "fal-ai/flux-lora",
    images: [0, 0],
    sizes: FLUX_SIZES,
    others: { num_images: 1, output_format: "png", loras: [{ path: LORA, scale: 1 }], ...SEED },
    prompt: "360 degree equirectangular panorama, seamless, a lake",
  },
};

const PROMPT = "a lake";

/** A prompt with up to three reference images at every size: test/adapters/provider/models.slow.test.ts. */
describe.each(Object.keys(FAL_PRESETS) as FalPresetName[])("fal with FAL_MODEL=%s", (model) => {
  const expected = EXPECTED[model];
  const [imagesMin, imagesMax] = expected.images;
  let remote: Awaited<ReturnType<typeof startFal>>;

  beforeEach(async () => {
    remote = await startFal({}, { model, loraUrl: LORA });
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
    const abilities = { imagesMin, imagesMax, promptCharactersMax: 4000 };
    expect(remote.provider.places().map((place) => place.abilities)).toEqual([abilities]);
    expect(32_000 - leadingCharacters()).toBeGreaterThan(4000);
  });

  it.each(RESOLUTION_NAMES)("sends a request for %s, with as many images as possible and with as few", async (size) => {
    const { provider, fake } = remote;
    for (const image_urls of [FOREIGN.slice(0, imagesMax), FOREIGN.slice(0, imagesMin)]) {
      const request = aCreationRequest({ prompt: PROMPT, image_urls, resolution: size });
      const id = (await provider.submit({ taskId: taskId(1), request }))._unsafeUnwrap();
      expect((await provider.poll(id))._unsafeUnwrap().state).toBe("succeeded");
      const task = fake.tasks.at(-1)!;
      expect(fake.endpointOf(task)).toBe(image_urls.length === 0 ? expected.text : expected.edit);
      expect(fake.referencesOf(task)).toEqual(image_urls);
      const { prompt, image_urls: _, image_url, ...others } = task.input;
      expect(prompt).toBe(expected.prompt ?? leadingPrompt(request));
      expect(others).toEqual({ ...expected.sizes[size], ...expected.others });
    }
  });
});

it("fal's hunyuan-world, which needs a prompt, gets a neutral one", async () => {
  const { provider, fake, close } = await startFal({}, { model: "hunyuan-world" });
  const request = aCreationRequest({ prompt: undefined, image_urls: FOREIGN.slice(0, 1) });
  await provider.submit({ taskId: taskId(1), request });
  expect(fake.tasks[0]?.input.prompt).toBe("a photorealistic panorama of the place in the picture");
  await close();
});
