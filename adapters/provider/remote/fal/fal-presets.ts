import type { FalInputs, FalModel } from "./fal-model.js";

const imageSize = (width: number, height: number): FalInputs => ({ image_size: { width, height } });
const ratio = (resolution: "1k" | "2k" | "4k"): FalInputs => ({ aspect_ratio: "2:1", resolution });

/** Edges of 1920 to 4096 pixels, or 3.7 to 16.8 megapixels. Smaller panoramas are scaled down. */
const SEEDREAM = {
  sizes: { "1k": imageSize(2720, 1360), "2k": imageSize(2720, 1360), "4k": imageSize(3840, 1920) },
  takes: ["seed"],
  inputs: { num_images: 1, max_images: 1 },
} as const;

/** Edges in multiples of 16 up to 3840 pixels, 0.66 to 8.3 megapixels. 1k is scaled down. */
const GPT_IMAGE_SIZES = { "1k": imageSize(1152, 576), "2k": imageSize(2048, 1024), "4k": imageSize(3840, 1920) };
const GPT_IMAGE_2 = {
  sizes: GPT_IMAGE_SIZES,
  takes: ["quality"],
  inputs: { num_images: 1, output_format: "png" },
  promptCharactersMax: 32_000,
} as const;
const GPT_IMAGE_25 = {
  ...GPT_IMAGE_2,
  inputs: { num_images: 1, output_format: "jpeg", output_compression: 95 },
} as const;

/** Edges of 512 to 2048 pixels. */
const FLUX_2 = {
  sizes: { "1k": imageSize(1024, 512), "2k": imageSize(2048, 1024), "4k": imageSize(2048, 1024) },
  takes: ["seed"],
  inputs: { num_images: 1, output_format: "png" },
} as const;

const FLUX_3 = {
  sizes: { "1k": ratio("1k"), "2k": ratio("2k"), "4k": ratio("4k") },
  takes: [],
  inputs: { output_format: "jpeg" },
} as const;

/**
 * Models of fal by their short name. What is known of their endpoints: fal's model pages and the types of its client,
 * September 2026.
 */
export const FAL_PRESETS = {
  "seedream-4.5": {
    text: { id: "fal-ai/bytedance/seedream/v4.5/text-to-image", ...SEEDREAM },
    images: {
      id: "fal-ai/bytedance/seedream/v4.5/edit",
      ...SEEDREAM,
      references: { input: "image_urls", max: 10 },
    },
  },
  "gpt-image-2": {
    text: { id: "openai/gpt-image-2", ...GPT_IMAGE_2 },
    images: {
      id: "openai/gpt-image-2/edit",
      ...GPT_IMAGE_2,
      takes: ["quality", "mask_url"],
      references: { input: "image_urls", max: 16 },
    },
  },
  "gpt-image-2.5": {
    text: { id: "openai/gpt-image-2.5/flare/text-to-image", ...GPT_IMAGE_25 },
    images: {
      id: "openai/gpt-image-2.5/flare/edit",
      ...GPT_IMAGE_25,
      takes: ["quality", "mask_url"],
      references: { input: "image_urls", max: 16 },
    },
  },
  "flux-2": {
    text: { id: "fal-ai/flux-2", ...FLUX_2 },
    images: { id: "fal-ai/flux-2/edit", ...FLUX_2, references: { input: "image_urls", max: 4 } },
  },
  "flux-3": {
    text: { id: "blackforestlabs/flux-3/text-to-image", ...FLUX_3 },
    images: {
      id: "blackforestlabs/flux-3/edit-image",
      ...FLUX_3,
      references: { input: "image_urls", max: 10, edgePixelsMin: 256 },
    },
  },
  "hunyuan-world": {
    // Always 1920 × 960 pixels.
    images: {
      id: "fal-ai/hunyuan_world",
      references: { input: "image_url", max: 1 },
      sizes: { "1k": {}, "2k": {}, "4k": {} },
      takes: [],
      inputs: {},
    },
    prefix: "",
  },
  "flux-lora": {
    text: {
      id: "fal-ai/flux-lora",
      // Above two megapixels FLUX.1 repeats parts of the picture.
      sizes: { "1k": imageSize(1024, 512), "2k": imageSize(2048, 1024), "4k": imageSize(2048, 1024) },
      takes: ["seed", "loras"],
      inputs: { num_images: 1, output_format: "png" },
    },
    prefix: "360 degree equirectangular panorama, seamless",
  },
} as const satisfies Readonly<Record<string, FalModel>>;

export type FalPresetName = keyof typeof FAL_PRESETS;

/** Takes three references, the exact size and our seed. */
export const FAL_DEFAULT: FalPresetName = "seedream-4.5";
