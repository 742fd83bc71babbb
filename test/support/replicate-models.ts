/** Schemas of models at Replicate, as `GET /v1/models/{owner}/{name}` publishes them. */

type InputSchema = Readonly<Record<string, unknown>>;
/** `enums`: allowed values, to which inputs refer by name. */
export type FakeSchema = {
  readonly properties: Readonly<Record<string, InputSchema>>;
  readonly required: readonly string[];
  readonly enums: Readonly<Record<string, readonly unknown[]>>;
};

const text = { type: "string" };
const flag = { type: "boolean" };
const picture = { type: "string", format: "uri" };
const integer = (minimum?: number, maximum?: number) => ({
  type: "integer",
  ...(minimum !== undefined && { minimum }),
  ...(maximum !== undefined && { maximum }),
});
const oneOf = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }] });

/** The inputs of every model that the platform's trainer has made. */
export const TRAINER_SCHEMA: FakeSchema = {
  required: ["prompt"],
  enums: { aspect_ratio: ["1:1", "16:9", "custom"], model: ["dev", "schnell"], output_format: ["webp", "jpg", "png"] },
  properties: {
    prompt: text,
    image: picture,
    mask: picture,
    aspect_ratio: oneOf("aspect_ratio"),
    height: integer(256, 1440),
    width: integer(256, 1440),
    prompt_strength: { type: "number", minimum: 0, maximum: 1 },
    model: oneOf("model"),
    num_outputs: integer(1, 4),
    num_inference_steps: integer(1, 50),
    guidance_scale: { type: "number", minimum: 0, maximum: 10 },
    seed: integer(),
    output_format: oneOf("output_format"),
    output_quality: integer(0, 100),
    disable_safety_checker: flag,
    go_fast: flag,
    megapixels: text,
    lora_scale: { type: "number" },
    extra_lora: text,
    extra_lora_scale: { type: "number" },
    replicate_weights: text,
  },
};

export const SEEDREAM_SCHEMA: FakeSchema = {
  required: ["prompt"],
  enums: {
    size: ["1K", "2K", "4K", "custom"],
    aspect_ratio: ["match_input_image", "1:1", "16:9", "21:9"],
    sequential_image_generation: ["disabled", "auto"],
  },
  properties: {
    prompt: text,
    image_input: { type: "array", items: picture, default: [], maxItems: 10 },
    size: oneOf("size"),
    aspect_ratio: oneOf("aspect_ratio"),
    width: integer(1024, 4096),
    height: integer(1024, 4096),
    sequential_image_generation: oneOf("sequential_image_generation"),
    max_images: integer(1, 15),
    enhance_prompt: flag,
  },
};

export const FLUX_2_SCHEMA: FakeSchema = {
  required: ["prompt"],
  enums: {
    aspect_ratio: ["match_input_image", "custom", "1:1", "16:9"],
    resolution: ["match_input_image", "0.5 MP", "1 MP", "2 MP", "4 MP"],
    output_format: ["webp", "jpg", "png"],
  },
  properties: {
    prompt: text,
    input_images: { type: "array", items: picture, default: [], maxItems: 8 },
    aspect_ratio: oneOf("aspect_ratio"),
    resolution: oneOf("resolution"),
    width: integer(256, 2048),
    height: integer(256, 2048),
    seed: integer(),
    safety_tolerance: integer(1, 5),
    output_format: oneOf("output_format"),
    output_quality: integer(0, 100),
  },
};

/** As the platform publishes a schema. */
export const published = ({ properties, required, enums }: FakeSchema) => ({
  components: {
    schemas: {
      Input: { type: "object", title: "Input", properties, required },
      Output: { type: "array", items: picture },
      ...Object.fromEntries(Object.entries(enums).map(([name, values]) => [name, { enum: values, type: "string" }])),
    },
  },
});

/** Without some inputs. */
export const without = (schema: FakeSchema, names: readonly string[]): FakeSchema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name))),
});

/** Why the platform refuses an input; `undefined` if it takes it. */
export const problemIn = (
  { properties, required, enums }: FakeSchema,
  input: Readonly<Record<string, unknown>>,
  isFile: (value: unknown) => boolean,
): string | undefined => {
  const missing = required.find((name) => input[name] === undefined);
  if (missing !== undefined) return `- input: ${missing} is required`;
  for (const [name, value] of Object.entries(input)) {
    const schema = properties[name];
    // The real one drops an unknown input without a word. Here a test has to notice it.
    if (schema === undefined) return `- input: ${name} is not known`;
    const { type, format, minimum, maximum, maxItems, allOf } = schema as {
      readonly [key: string]: unknown;
      readonly minimum?: number;
      readonly maximum?: number;
      readonly maxItems?: number;
    };
    const isNumber = type === "integer" || type === "number";
    const typed =
      allOf !== undefined
        ? enums[name]?.includes(value)
        : type === "array"
          ? Array.isArray(value) && value.length <= (maxItems ?? value.length) && value.every(isFile)
          : format === "uri"
            ? isFile(value)
            : isNumber
              ? typeof value === "number" && (type === "number" || Number.isInteger(value))
              : typeof value === type;
    if (!typed) return `- input.${name}: Invalid type`;
    if (isNumber && ((value as number) < (minimum ?? -Infinity) || (value as number) > (maximum ?? Infinity))) {
      return `- input.${name}: must be between ${minimum} and ${maximum}`;
    }
  }
  return undefined;
};
