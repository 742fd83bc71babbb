import * as z from "zod";

/**
 * The inputs of fal's endpoints that the tests use, and what a model does with them: from fal's model pages and the
 * types of its client. Other inputs are refused, although fal's own endpoints ignore some.
 */
const imageSize = z
  .object({ width: z.int().min(1).max(14142).default(512), height: z.int().min(1).max(14142).default(512) })
  .meta({ id: "ImageSize", title: "ImageSize" });
const lora = z.object({ path: z.string(), scale: z.number().min(0).max(4).default(1) }).meta({ id: "LoraWeight" });

type Size = z.infer<typeof imageSize>;

const sizeOrName = (fits: (size: Size) => boolean, ...names: string[]) =>
  z
    .union([imageSize, z.enum(["square_hd", "square", "landscape_4_3", "landscape_16_9", ...names])])
    .refine((size) => typeof size === "string" || fits(size), { params: { type: "value_error" } });

const prompt = z.string().min(2).max(32_000);
const images = (max: number | undefined) =>
  (max === undefined ? z.array(pictureUrl) : z.array(pictureUrl).max(max)).min(1);
const pictureUrl = z.string().refine((url) => /^(https:\/\/|data:image\/(jpeg|png|webp);base64,)/.test(url), {
  params: { type: "image_load_error" },
});
const count = z.int().min(1).max(6).default(1);
const format = z.enum(["jpeg", "png", "webp"]).default("png");
const seed = z.int().nullable().optional();

const within = (min: number, max: number) => (edge: number) => min <= edge && edge <= max;
const edges = ({ width, height }: Size) => [width, height];

const seedreamSize = sizeOrName(
  (size) => edges(size).every(within(1920, 4096)) || within(2560 * 1440, 4096 * 4096)(size.width * size.height),
  "auto_2K",
  "auto_4K",
);
const seedream = {
  prompt: z.string(),
  image_size: seedreamSize.optional(),
  num_images: count,
  max_images: count,
  seed,
  sync_mode: z.boolean().default(false),
  enable_safety_checker: z.boolean().default(true),
};

const gptImageSize = sizeOrName(
  (size) =>
    edges(size).every((edge) => edge % 16 === 0 && edge <= 3840) &&
    within(655_360, 8_294_400)(size.width * size.height),
  "auto",
);
const gptImage2 = {
  prompt,
  image_size: gptImageSize.optional(),
  quality: z.enum(["auto", "low", "medium", "high"]).default("high"),
  num_images: count,
  output_format: format,
  sync_mode: z.boolean().default(false),
};
const gptImage25 = {
  ...gptImage2,
  quality: z.enum(["auto", "low", "medium", "high", "xhigh", "max"]).default("high"),
  background: z.enum(["auto", "transparent", "opaque"]).default("auto"),
  output_compression: z.int().min(0).max(100).optional(),
};
const mask_url = pictureUrl.nullable().optional();

const flux2 = {
  prompt: z.string(),
  image_size: sizeOrName((size) => edges(size).every(within(512, 2048))).optional(),
  num_images: count,
  output_format: format,
  seed,
  guidance_scale: z.number().default(2.5),
};

const flux3 = {
  prompt: z.string(),
  aspect_ratio: z.enum(["auto", "21:9", "2:1", "16:9", "4:3", "1:1", "9:16", "1:2"]).default("auto"),
  resolution: z.enum(["512sq", "768sq", "1k", "2k", "4k"]).default("1k"),
  output_format: z.enum(["jpeg", "png"]).default("jpeg"),
};

const anySize = sizeOrName(() => true);
const area = (min: number, max: number) => sizeOrName(({ width, height }) => within(min, max)(width * height));

const INPUTS = {
  "fal-ai/bytedance/seedream/v4.5/text-to-image": seedream,
  "fal-ai/bytedance/seedream/v4.5/edit": { ...seedream, image_urls: images(undefined) },
  "openai/gpt-image-2": gptImage2,
  "openai/gpt-image-2/edit": { ...gptImage2, image_urls: images(undefined), mask_url },
  "openai/gpt-image-2.5/flare/text-to-image": gptImage25,
  "openai/gpt-image-2.5/flare/edit": { ...gptImage25, image_urls: images(16), mask_url },
  "fal-ai/flux-2": flux2,
  "fal-ai/flux-2/edit": { ...flux2, image_urls: images(undefined) },
  "blackforestlabs/flux-3/text-to-image": flux3,
  "blackforestlabs/flux-3/edit-image": { ...flux3, image_urls: images(10) },
  "fal-ai/hunyuan_world": { prompt: z.string(), image_url: pictureUrl },
  "fal-ai/flux-lora": {
    prompt: z.string(),
    image_size: anySize.optional(),
    loras: z.array(lora).optional(),
    num_images: count,
    output_format: z.enum(["jpeg", "png"]).default("jpeg"),
    seed,
  },
  // Not presets.
  "fal-ai/flux-2/lora": { ...flux2, loras: z.array(lora).max(3).optional() },
  "fal-ai/flux-2/lora/edit": { ...flux2, image_urls: images(3), loras: z.array(lora).max(3).optional() },
  "fal-ai/qwen-image-2/pro/edit": {
    prompt: z.string().max(800),
    image_urls: images(2),
    image_size: area(512 * 512, 2048 * 2048).optional(),
    num_images: count,
    seed,
  },
  "openai/gpt-image-2.5/sunburst/text-to-image": gptImage25,
  "openai/gpt-image-2.5/sunburst/edit": { ...gptImage25, image_urls: images(16), mask_url },
  "fal-ai/bytedance/seedream/v5/lite/text-to-image": {
    ...seedream,
    image_size: area(2560 * 1440, 3072 * 3072).optional(),
  },
  "fal-ai/bytedance/seedream/v4/text-to-image": { ...seedream, image_size: area(921_600, 4096 * 4096).optional() },
  "fal-ai/wan/v2.7/pro/edit": {
    prompt: z.string().max(2000),
    image_urls: images(3),
    image_size: area(768 * 768, 1280 * 1280).optional(),
    seed,
  },
  "fal-ai/nano-banana-pro": {
    prompt,
    aspect_ratio: z.enum(["21:9", "16:9", "1:1"]).optional(),
    resolution: z.enum(["1K", "2K", "4K"]).optional(),
    seed,
  },
  "example/ratios": {
    prompt,
    image_urls: images(4).optional(),
    aspect_ratio: z.enum(["2:1", "1:1"]).optional(),
    resolution: z.enum(["2K", "1K"]).optional(),
    seed,
  },
  "fal-ai/flux-pro/v1/fill": {
    prompt: z.string(),
    image_url: pictureUrl,
    mask_url: pictureUrl,
    seed,
    num_images: count,
  },
} as const satisfies Readonly<Record<string, z.ZodRawShape>>;

export type FalEndpointId = keyof typeof INPUTS;

const isEndpoint = (id: string): id is FalEndpointId => Object.hasOwn(INPUTS, id);

/** What fal publishes of an endpoint; `undefined` if there is none. */
export const falOpenapi = (id: string): object | undefined => {
  if (!isEndpoint(id)) return undefined;
  const all = z.registry<{ id: string }>();
  for (const [name, schema] of Object.entries({ ImageSize: imageSize, LoraWeight: lora }))
    all.add(schema, { id: name });
  all.add(z.object(INPUTS[id] as z.ZodRawShape), { id: "Input" });
  const { schemas } = z.toJSONSchema(all, {
    target: "openapi-3.0",
    io: "input",
    uri: (name) => `#/components/schemas/${name}`,
  });
  return {
    openapi: "3.0.4",
    info: { title: `Queue OpenAPI for ${id}`, version: "1.0.0" },
    components: { schemas },
    paths: {
      [`/${id}/requests/{request_id}/status`]: { get: { responses: {} } },
      [`/${id}`]: {
        post: {
          requestBody: {
            required: true,
            content: { "application/json": { schema: { $ref: "#/components/schemas/Input" } } },
          },
        },
      },
    },
  };
};

export type FalDetail = { readonly loc: readonly unknown[]; readonly msg: string; readonly type: string };

/** What is wrong with the input of a request, as the model reports it in the result. */
export const falDetails = (id: string, input: unknown): readonly FalDetail[] => {
  if (!isEndpoint(id)) return [];
  const parsed = z.strictObject(INPUTS[id] as z.ZodRawShape).safeParse(input);
  return (parsed.error?.issues ?? []).map((issue) => {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [];
    return { loc: ["body", ...issue.path, ...keys], msg: "invalid", type: typeOf(issue) };
  });
};

const typeOf = (issue: z.core.$ZodIssue): string => {
  switch (issue.code) {
    case "unrecognized_keys":
      return "extra_forbidden";
    case "invalid_type":
      return issue.input === undefined ? "missing" : "value_error";
    case "too_big":
      return issue.origin === "array" ? "sequence_too_long" : "less_than_equal";
    case "too_small":
      return issue.origin === "array" ? "sequence_too_short" : "greater_than_equal";
    case "custom":
      return String(issue.params?.type ?? "value_error");
    default:
      return "value_error";
  }
};
