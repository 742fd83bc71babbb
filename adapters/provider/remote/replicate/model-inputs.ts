import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import { type PixelSize, RESOLUTIONS, type Resolution } from "../../../../domain/images/resolution.js";
import { IMAGE_URLS_MAX } from "../../../../domain/tasks/abilities.js";

/** Inputs of a model, read from its published schema. */
export type ModelInputs = {
  /** Sent with every prediction. */
  readonly constants: Readonly<Record<string, unknown>>;
  readonly sizes: Readonly<Record<Resolution, PixelSize>>;
  /**
   * `list`: one URL per reference image. `canvas`: one image, whose size the result gets, and a mask if `hasMask`.
   * LoRAs trained on Replicate are of this kind. `none`: text only.
   */
  readonly references:
    | { readonly kind: "list"; readonly input: string; readonly max: number }
    | { readonly kind: "canvas"; readonly hasMask: boolean }
    | { readonly kind: "none" };
  /** True if the model accepts a seed. The seed identifies a prediction whose id was lost. */
  readonly hasSeed: boolean;
  /** Of the model's `prompt`, with what this service puts before the customer's words. */
  readonly promptCharactersMax: number;
};

const property = z.looseObject({
  type: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxItems: z.number().optional(),
  maxLength: z.number().optional(),
  enum: z.array(z.unknown()).optional(),
  items: z.looseObject({ type: z.string().optional(), format: z.string().optional() }).optional(),
  /** An enum may be a `$ref` to another schema instead of `enum`. */
  allOf: z.array(z.looseObject({ $ref: z.string().optional() })).optional(),
});
type Property = z.infer<typeof property>;

/** The parts of a version's `openapi_schema` that this adapter reads. */
export const modelSchema = z.object({
  components: z.object({
    schemas: z
      .object({
        Input: z.object({ properties: z.record(z.string(), property), required: z.array(z.string()).optional() }),
      })
      .catchall(z.looseObject({ enum: z.array(z.unknown()).optional() })),
  }),
});
type Schemas = z.infer<typeof modelSchema>["components"]["schemas"];

/** Values for optional inputs, best first. If the model has the input, the first value that it allows is sent. */
const PREFERRED: Readonly<Record<string, readonly unknown[]>> = {
  num_outputs: [1],
  max_images: [1],
  sequential_image_generation: ["disabled"],
  // These two rewrite the customer's prompt.
  enhance_prompt: [false],
  prompt_upsampling: [false],
  // Custom sizes of trained LoRAs require `go_fast: false`.
  go_fast: [false],
  output_format: ["png", "jpg", "jpeg"],
  output_quality: [95],
};

/** Width and height are multiples of this. */
const STEP_PIXELS = 16;

/** Reads the inputs from a schema. The error continues a sentence that begins with "the model". */
export const readModelInputs = ({
  components: { schemas },
}: z.infer<typeof modelSchema>): Result<ModelInputs, string> => {
  const { properties, required = [] } = schemas.Input;
  if (properties.prompt === undefined) return err("has no input prompt");
  const sizeInput = ["size", "aspect_ratio"].find((name) => allows(schemas, properties[name], "custom"));
  const { width, height } = properties;
  if (sizeInput === undefined || width === undefined || height === undefined) {
    return err("takes no width and height of its own: neither size nor aspect_ratio can be custom");
  }
  const sizes = sizesWithin(
    Math.max(width.minimum ?? 0, (height.minimum ?? 0) * 2),
    Math.min(width.maximum ?? Number.POSITIVE_INFINITY, (height.maximum ?? Number.POSITIVE_INFINITY) * 2),
  );
  if (sizes === undefined) return err("makes no picture that is twice as wide as high");
  const chosen = Object.entries(PREFERRED).flatMap(([name, values]) => {
    const value = values.find((preferred) => allows(schemas, properties[name], preferred));
    return value === undefined ? [] : [[name, value] as const];
  });
  const references = referencesIn(properties);
  const constants = { [sizeInput]: "custom", ...Object.fromEntries(chosen) };
  const sent = new Set([...Object.keys(constants), "prompt", "width", "height", "seed"]);
  const unknown = required.filter((name) => !sent.has(name));
  if (unknown.length > 0) return err(`needs the inputs ${unknown.join(", ")}, which this service does not send`);
  const { maxLength: promptCharactersMax = Number.POSITIVE_INFINITY } = properties.prompt;
  return ok({ constants, sizes, references, hasSeed: properties.seed !== undefined, promptCharactersMax });
};

/** Finds the input for reference images. */
const referencesIn = (properties: Readonly<Record<string, Property>>): ModelInputs["references"] => {
  const list = Object.entries(properties).find(
    ([, { type, items }]) => type === "array" && items?.type === "string" && items.format === "uri",
  );
  if (list !== undefined) {
    const [input, { maxItems = IMAGE_URLS_MAX }] = list;
    return { kind: "list", input, max: Math.min(IMAGE_URLS_MAX, maxItems) };
  }
  return properties.image !== undefined && properties.prompt_strength !== undefined
    ? { kind: "canvas", hasMask: properties.mask !== undefined }
    : { kind: "none" };
};

/** True if the input exists and accepts `value`. An input without an enum counts as not accepting "custom". */
const allows = (schemas: Schemas, input: Property | undefined, value: unknown): boolean => {
  if (input === undefined) return false;
  const values = input.enum ?? input.allOf?.map(({ $ref }) => schemas[$ref?.split("/").at(-1) ?? ""]?.enum)[0];
  if (values !== undefined) return values.includes(value);
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = input;
  return value !== "custom" && (typeof value !== "number" || (value >= minimum && value <= maximum));
};

/** The size to request for each resolution; results are scaled later. `undefined` if no 2:1 size is possible. */
const sizesWithin = (widthMin: number, widthMax: number): ModelInputs["sizes"] | undefined => {
  const heightMin = Math.ceil(widthMin / 2 / STEP_PIXELS) * STEP_PIXELS;
  const heightMax = Math.floor(widthMax / 2 / STEP_PIXELS) * STEP_PIXELS;
  if (heightMin > heightMax) return undefined;
  const sizeOf = (resolution: Resolution): PixelSize => {
    const heightPixels = Math.min(heightMax, Math.max(heightMin, RESOLUTIONS[resolution].heightPixels));
    return { widthPixels: 2 * heightPixels, heightPixels };
  };
  return { "1k": sizeOf("1k"), "2k": sizeOf("2k"), "4k": sizeOf("4k") };
};
