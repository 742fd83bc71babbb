import { parseWorkflow, type Workflow } from "./workflow.js";

/** Common part of both bundled workflows. Each has its own nodes 1, 3, 6 and 7, and number of steps. */
const withQwenImage = <Own extends object>(own: Own, steps: number) => ({
  ...own,
  "4": {
    class_type: "CLIPLoader",
    inputs: { clip_name: "qwen_2.5_vl_7b_fp8_scaled.safetensors", type: "qwen_image", device: "default" },
  },
  "5": { class_type: "VAELoader", inputs: { vae_name: "qwen_image_vae.safetensors" } },
  "8": {
    class_type: "EmptySD3LatentImage",
    inputs: { width: "{width}", height: "{height}", batch_size: 1 },
  },
  "9": {
    class_type: "KSampler",
    inputs: {
      model: ["3", 0],
      positive: ["6", 0],
      negative: ["7", 0],
      latent_image: ["8", 0],
      seed: "{seed}",
      steps,
      cfg: 4,
      sampler_name: "euler",
      scheduler: "simple",
      denoise: 1,
    },
  },
  "10": { class_type: "VAEDecode", inputs: { samples: ["9", 0], vae: ["5", 0] } },
  "11": { class_type: "SaveImage", inputs: { images: ["10", 0], filename_prefix: "panorama" } },
});

/**
 * A bundled workflow: Qwen-Image 2512 with the LoRA `ProGamerGov/qwen-360-diffusion`, which was trained at
 * 2048 × 1024. PROVIDERS.md says which files it needs, and where they go.
 */
const QWEN_IMAGE_360 = withQwenImage(
  {
    "1": {
      class_type: "UNETLoader",
      inputs: { unet_name: "qwen_image_2512_fp8_e4m3fn.safetensors", weight_dtype: "default" },
    },
    "2": {
      class_type: "LoraLoaderModelOnly",
      inputs: {
        model: ["1", 0],
        lora_name: "qwen-360-diffusion-2512-int8-bf16-v2.safetensors",
        strength_model: 1,
      },
    },
    "3": { class_type: "ModelSamplingAuraFlow", inputs: { model: ["2", 0], shift: 3.1 } },
    "6": {
      class_type: "CLIPTextEncode",
      inputs: { clip: ["4", 0], text: "360 degree panorama with equirectangular projection, {prompt}" },
    },
    "7": { class_type: "CLIPTextEncode", inputs: { clip: ["4", 0], text: "{negative_prompt}" } },
  },
  30,
);

const PHOTOS = { image1: ["21", 0], image2: ["22", 0], image3: ["23", 0] };

/**
 * A bundled workflow: Qwen-Image-Edit 2511, which keeps up to three photos and also paints from text alone. It was not
 * trained on panoramas, so it gets the leading prompt. PROVIDERS.md says which files it needs, and where they go.
 */
const QWEN_IMAGE_EDIT = withQwenImage(
  {
    "1": {
      class_type: "UNETLoader",
      inputs: { unet_name: "qwen_image_edit_2511_bf16.safetensors", weight_dtype: "default" },
    },
    "3": { class_type: "ModelSamplingAuraFlow", inputs: { model: ["1", 0], shift: 3.1 } },
    "21": { class_type: "LoadImage", inputs: { image: "{image1?}" } },
    "22": { class_type: "LoadImage", inputs: { image: "{image2?}" } },
    "23": { class_type: "LoadImage", inputs: { image: "{image3?}" } },
    "6": {
      class_type: "TextEncodeQwenImageEditPlus",
      inputs: { clip: ["4", 0], vae: ["5", 0], prompt: "{leading_prompt}", ...PHOTOS },
    },
    "7": {
      class_type: "TextEncodeQwenImageEditPlus",
      inputs: { clip: ["4", 0], vae: ["5", 0], prompt: "{negative_prompt}", ...PHOTOS },
    },
  },
  40,
);

const BUNDLED = { "qwen-image-360": QWEN_IMAGE_360, "qwen-image-edit": QWEN_IMAGE_EDIT } as const;

/** `qwen-image-360` makes panoramas from text. `qwen-image-edit` makes them from text and up to three images. */
export type BundledWorkflow = keyof typeof BUNDLED;

export const BUNDLED_WORKFLOWS = Object.keys(BUNDLED) as readonly BundledWorkflow[];

/** A workflow; one that is bundled has its name. */
export type NamedWorkflow = Workflow & { readonly name: BundledWorkflow | undefined };

/** `workflow`: the name of a bundled one, or the JSON of another one. Throws if it is neither. */
export const namedWorkflow = (workflow: unknown): NamedWorkflow => {
  const name = BUNDLED_WORKFLOWS.find((bundled) => bundled === workflow);
  const parsed = parseWorkflow(name === undefined ? workflow : BUNDLED[name]);
  if (parsed.isErr()) throw new TypeError(`workflow: ${parsed.error}.`);
  return { ...parsed.value, name };
};
