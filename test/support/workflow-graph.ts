/** A workflow of ComfyUI as a server receives it. */
export type Graph = Readonly<Record<string, GraphNode>>;
type GraphNode = { readonly class_type?: unknown; readonly inputs?: Readonly<Record<string, unknown>> };

type Inputs = Readonly<Record<string, readonly unknown[]>>;
/** The inputs of each class of nodes with their types, or their allowed values in the older and the newer form. */
export type NodeClasses = Readonly<Record<string, { readonly required: Inputs; readonly optional?: Inputs }>>;

const combo = (...options: string[]): readonly unknown[] => ["COMBO", { options }];

/** Those of the bundled workflows and of the tests; of a sampler only what the tests need. */
export const NODE_CLASSES: NodeClasses = {
  CheckpointLoaderSimple: { required: { ckpt_name: [["model.safetensors"], {}] } },
  LoraLoader: { required: { lora_name: combo("360.safetensors") } },
  LoraLoaderModelOnly: {
    required: { model: ["MODEL"], lora_name: combo("qwen-360-diffusion-2512-int8-bf16-v2.safetensors") },
  },
  UNETLoader: {
    required: {
      unet_name: combo("qwen_image_2512_fp8_e4m3fn.safetensors", "qwen_image_edit_2511_bf16.safetensors"),
      weight_dtype: [["default"], {}],
    },
  },
  CLIPLoader: {
    required: { clip_name: [["qwen_2.5_vl_7b_fp8_scaled.safetensors"], {}], type: [["qwen_image"], {}] },
    optional: { device: [["default"], {}] },
  },
  VAELoader: { required: { vae_name: [["qwen_image_vae.safetensors"], {}] } },
  ModelSamplingAuraFlow: { required: { model: ["MODEL"], shift: ["FLOAT", {}] } },
  CLIPTextEncode: { required: { clip: ["CLIP"], text: ["STRING", { multiline: true }] } },
  TextEncodeQwenImageEditPlus: {
    required: { clip: ["CLIP"], prompt: ["STRING", { multiline: true }] },
    optional: { vae: ["VAE"], image1: ["IMAGE"], image2: ["IMAGE"], image3: ["IMAGE"] },
  },
  EmptyLatentImage: { required: { width: ["INT", {}], height: ["INT", {}] } },
  EmptySD3LatentImage: { required: { width: ["INT", {}], height: ["INT", {}], batch_size: ["INT", {}] } },
  KSampler: {
    required: {
      model: ["MODEL"],
      positive: ["CONDITIONING"],
      negative: ["CONDITIONING"],
      latent_image: ["LATENT"],
      seed: ["INT", {}],
    },
  },
  VAEDecode: { required: { samples: ["LATENT"], vae: ["VAE"] } },
  LoadImage: { required: { image: [["example.png"], { image_upload: true }] } },
  ImageScale: { required: { image: ["IMAGE"] } },
  SaveImage: { required: { images: ["IMAGE"], filename_prefix: ["STRING", {}] } },
};

const nodesOf = (graph: Graph, ofClass: RegExp) =>
  Object.values(graph).filter(({ class_type }) => ofClass.test(String(class_type)));

/** The text that leads to the sampler's positive conditioning. */
export const promptIn = (graph: Graph): string | undefined => {
  const positive = nodesOf(graph, /^KSampler$/)[0]?.inputs?.positive;
  const { text, prompt = text } = graph[String(Array.isArray(positive) ? positive[0] : "")]?.inputs ?? {};
  return typeof prompt === "string" ? prompt : undefined;
};

/** The values of the nodes that load an image, in order. */
export const referencesIn = (graph: Graph): readonly unknown[] =>
  nodesOf(graph, /^LoadImage$/).map(({ inputs }) => inputs?.image);

export const sizeIn = (graph: Graph): { width: number; height: number } | undefined => {
  const { width, height } = nodesOf(graph, /^Empty.*LatentImage$/)[0]?.inputs ?? {};
  return typeof width === "number" && typeof height === "number" ? { width, height } : undefined;
};
