import { err, ok, type Result } from "neverthrow";
import {
  type PixelSize,
  RESOLUTION_NAMES,
  RESOLUTIONS,
  type Resolution,
} from "../../../../domain/images/resolution.js";
import { IMAGE_URLS_MAX } from "../../../../domain/tasks/creation-request.js";
import type { FalEndpoint, FalInputs } from "./fal-model.js";
import type { FalSchema, InputShape } from "./fal-schema.js";

/** An endpoint whose inputs were found in its schema, and whether it needs a reference image. */
export type MappedEndpoint = FalEndpoint & { readonly needsImage: boolean };

/** Inputs of one picture, in an order of preference for those with a choice. */
const CONSTANTS: Readonly<Record<string, readonly unknown[]>> = {
  num_images: [1],
  max_images: [1],
  output_format: ["png", "jpeg"],
};

const OPTIONAL = ["seed", "quality", "loras", "mask_url"] as const;

/** Inputs that are sent only if the operator has set them. */
export type FalExtras = { readonly mask_url: boolean; readonly loras: boolean };

/** Finds the inputs for a panorama in an endpoint's schema. The error says what it lacks. */
export const endpointOfSchema = (id: string, schema: FalSchema, extras: FalExtras): Result<MappedEndpoint, string> => {
  if (!schema.inputs.has("prompt")) return err("has no input prompt");
  // Endpoints that paint by a mask alone make a picture of the size of the canvas.
  const known = knownLimits(id);
  const sizes =
    sizesIn(schema, known) ?? (extras.mask_url && schema.inputs.has("mask_url") ? forEach(() => ({})) : undefined);
  if (sizes === undefined) return err("has neither an image_size with width and height nor the aspect_ratio 2:1");
  const references = referencesIn(schema, known);
  const inputs = Object.fromEntries(
    Object.entries(CONSTANTS).flatMap(([name, values]) => {
      const value = values.find((one) => allows(schema.inputs.get(name), one));
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const promptCharactersMax = Math.min(...numbers(schema.inputs.get("prompt"), "maxLength"));
  const endpoint: FalEndpoint = {
    id,
    ...(references && { references }),
    sizes,
    takes: OPTIONAL.filter((name) => schema.inputs.has(name)),
    ...(schema.required.includes("mask_url") && { needsMask: true }),
    inputs,
    ...(Number.isFinite(promptCharactersMax) && { promptCharactersMax }),
  };
  const missing = missingIn(endpoint, schema, extras);
  if (missing.length > 0) return err(`needs the inputs ${missing.join(", ")}, which this service does not send`);
  return ok({ ...endpoint, needsImage: references !== undefined && schema.required.includes(references.input) });
};

/** Compares the preset of an endpoint with its schema. The error says what is different. */
export const verifyEndpoint = (endpoint: FalEndpoint, schema: FalSchema, extras: FalExtras): Result<void, string> => {
  const unknown = [...namesOf(endpoint)].filter((name) => !schema.inputs.has(name));
  if (unknown.length > 0) return err(`does not know the inputs ${unknown.join(", ")}`);
  const missing = missingIn(endpoint, schema, extras);
  if (missing.length > 0) return err(`needs the inputs ${missing.join(", ")}, which this service does not send`);
  const { references } = endpoint;
  const itemsMax = references && Math.min(...numbers(schema.inputs.get(references.input), "maxItems"));
  if (references?.input === "image_urls" && (itemsMax ?? 0) < Math.min(IMAGE_URLS_MAX, references.max)) {
    return err(`keeps ${itemsMax} reference images`);
  }
  const sent = [endpoint.inputs, ...Object.values(endpoint.sizes)].flatMap((inputs) => Object.entries(inputs));
  const refused = sent.find(([name, value]) => !allows(schema.inputs.get(name), value));
  return refused === undefined ? ok(undefined) : err(`does not allow ${refused[0]}=${JSON.stringify(refused[1])}`);
};

const missingIn = (endpoint: FalEndpoint, { required }: FalSchema, extras: FalExtras): readonly string[] => {
  const sent = namesOf(endpoint);
  return required.filter((name) => !sent.has(name) || extras[name as keyof FalExtras] === false);
};

const namesOf = ({ references, sizes, takes, inputs }: FalEndpoint): ReadonlySet<string> =>
  new Set([
    "prompt",
    ...(references === undefined ? [] : [references.input]),
    ...takes,
    ...[inputs, ...Object.values(sizes)].flatMap(Object.keys),
  ]);

/** True if an input accepts this value: a value of its list, or an object if one of its shapes is an object. */
export const allows = (shapes: readonly InputShape[] | undefined, value: unknown): boolean =>
  shapes?.some(({ enum: values, properties, type }) => {
    if (typeof value === "object") return properties !== undefined || type === "object";
    return values === undefined ? properties === undefined && type !== "null" : values.includes(value);
  }) === true;

const numbers = (shapes: readonly InputShape[] = [], name: "maxItems" | "maxLength"): readonly number[] =>
  shapes.flatMap((shape) => shape[name] ?? []);

const referencesIn = ({ inputs }: FalSchema, { referenceEdgeMin }: KnownLimits): FalEndpoint["references"] => {
  // Without a stated number it is ours: fal's endpoints for several images keep at least three.
  const max = Math.min(IMAGE_URLS_MAX, ...numbers(inputs.get("image_urls"), "maxItems"));
  const limits = referenceEdgeMin === undefined ? {} : { edgePixelsMin: referenceEdgeMin };
  if (inputs.has("image_urls")) return { input: "image_urls", max, ...limits };
  return inputs.has("image_url") ? { input: "image_url", max: 1, ...limits } : undefined;
};

const sizesIn = (schema: FalSchema, known: KnownLimits): FalEndpoint["sizes"] | undefined =>
  imageSizesIn(schema, known) ?? ratiosIn(schema);

const imageSizesIn = ({ inputs, shapesOf }: FalSchema, known: KnownLimits): FalEndpoint["sizes"] | undefined => {
  const free = inputs.get("image_size")?.find(({ properties }) => properties?.width && properties.height);
  if (free === undefined) return undefined;
  const edges = { width: shapesOf(free.properties?.width), height: shapesOf(free.properties?.height) };
  const sizes = RESOLUTION_NAMES.map((name) => fittingSize(RESOLUTIONS[name], edges, known));
  if (sizes.includes(undefined)) return undefined;
  return forEach((resolution) => {
    const size = sizes[RESOLUTION_NAMES.indexOf(resolution)];
    return { image_size: { width: size?.widthPixels, height: size?.heightPixels } };
  });
};

const ratiosIn = ({ inputs }: FalSchema): FalEndpoint["sizes"] | undefined => {
  const ratios = inputs.get("aspect_ratio");
  if (ratios === undefined || !valuesOf(ratios).includes("2:1")) return undefined;
  const known = valuesOf(inputs.get("resolution"));
  const named = RESOLUTION_NAMES.map((name) => known.find((value) => String(value).toLowerCase() === name));
  return forEach((resolution) => {
    const at = RESOLUTION_NAMES.indexOf(resolution);
    // The next larger one, or else the largest.
    const value = named.slice(at).find((one) => one !== undefined) ?? named.findLast((one) => one !== undefined);
    return { aspect_ratio: "2:1", ...(value !== undefined && { resolution: value }) };
  });
};

const valuesOf = (shapes: readonly InputShape[] = []): readonly unknown[] =>
  shapes.flatMap((shape) => shape.enum ?? []);

const forEach = (inputs: (resolution: Resolution) => FalInputs): FalEndpoint["sizes"] => ({
  "1k": inputs("1k"),
  "2k": inputs("2k"),
  "4k": inputs("4k"),
});

/** Sizes that an endpoint accepts, in pixels. `pixelsMin` and `pixelsMax` are for the whole picture. */
type KnownLimits = {
  readonly pixelsMin?: number;
  readonly pixelsMax?: number;
  readonly edgeMin?: number;
  readonly edgeMax?: number;
  /** The shortest edge that a reference image may have. */
  readonly referenceEdgeMin?: number;
};

/**
 * Limits that fal's model pages state (September 2026) and its schemas do not: an endpoint takes the request, and fails
 * at the result, which can be billed. By the beginning of the endpoint's id; the first one counts.
 */
const LIMITS: readonly (readonly [string, KnownLimits])[] = [
  ["openai/gpt-image-2", { pixelsMin: 655_360, pixelsMax: 8_294_400, edgeMax: 3840 }],
  ["fal-ai/bytedance/seedream/v5/lite/", { pixelsMin: 2560 * 1440, pixelsMax: 3072 ** 2 }],
  ["fal-ai/bytedance/seedream/v4.5/", { pixelsMin: 2560 * 1440, pixelsMax: 4096 ** 2 }],
  ["fal-ai/bytedance/seedream/v4/", { pixelsMin: 921_600, pixelsMax: 4096 ** 2 }],
  ["fal-ai/qwen-image-2/", { pixelsMin: 512 ** 2, pixelsMax: 2048 ** 2, referenceEdgeMin: 384 }],
  ["fal-ai/wan/v2.7/", { pixelsMin: 768 ** 2, pixelsMax: 1280 ** 2, referenceEdgeMin: 384 }],
  ["fal-ai/flux-2-pro", { pixelsMax: 4_000_000 }],
  ["fal-ai/flux-2-max", { pixelsMax: 4_000_000 }],
  ["fal-ai/flux-2/klein/", {}],
  ["fal-ai/flux-2", { edgeMin: 512, edgeMax: 2048 }],
  ["blackforestlabs/flux-3/", { referenceEdgeMin: 256 }],
];

const knownLimits = (endpointId: string): KnownLimits =>
  LIMITS.find(([beginning]) => endpointId.startsWith(beginning))?.[1] ?? {};

/** Models work in multiples of this: gpt-image accepts nothing else, others round. */
const STEP = 16;

/** The shapes of `width` and `height` in a schema. */
type EdgeShapes = { readonly width: readonly InputShape[]; readonly height: readonly InputShape[] };

/**
 * The 2:1 size within all limits that is nearest to the wanted one: that itself, else the next larger one, else the
 * largest. It is scaled afterwards. `undefined` if no 2:1 size is within the limits.
 */
const fittingSize = (wanted: PixelSize, { width, height }: EdgeShapes, known: KnownLimits) => {
  const {
    pixelsMin = 0,
    pixelsMax = Number.POSITIVE_INFINITY,
    edgeMin = 0,
    edgeMax = Number.POSITIVE_INFINITY,
  } = known;
  const step = [...width, ...height].reduce((all, { multipleOf = 1 }) => leastCommonMultiple(all, multipleOf), STEP);
  const lowest = Math.max(edgeMin, ...minima(height), ...minima(width).map(half), Math.sqrt(pixelsMin / 2));
  const highest = Math.min(...maxima(height), ...[...maxima(width), edgeMax].map(half), Math.sqrt(pixelsMax / 2));
  const heightPixels = Math.min(
    Math.max(up(wanted.heightPixels, step), up(lowest, step)),
    Math.floor(highest / step) * step,
  );
  return heightPixels > 0 && heightPixels >= lowest ? { widthPixels: 2 * heightPixels, heightPixels } : undefined;
};

const minima = (shapes: readonly InputShape[]) => shapes.map(({ minimum = 0 }) => minimum);
const maxima = (shapes: readonly InputShape[]) => shapes.map(({ maximum = Number.POSITIVE_INFINITY }) => maximum);
const half = (pixels: number): number => pixels / 2;
const up = (pixels: number, step: number): number => Math.ceil(pixels / step) * step;

const leastCommonMultiple = (a: number, b: number): number => {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return (a / x) * b;
};
