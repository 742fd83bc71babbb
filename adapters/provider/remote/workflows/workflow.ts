import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type { GenerationOrder } from "../../../../application/ports/generation-provider.js";
import { RESOLUTIONS } from "../../../../domain/images/resolution.js";
import { type Abilities, ALL_ABILITIES } from "../../../../domain/tasks/abilities.js";
import { IMAGE_URLS_MAX } from "../../../../domain/tasks/creation-request.js";
import { type CreationContext, correlationSeed } from "../dialect.js";
import { NEUTRAL_PROMPT } from "../leading-prompt.js";

const nodeSchema = z.looseObject({ class_type: z.string().min(1), inputs: z.record(z.string(), z.unknown()) });
const nodesSchema = z.record(z.string(), nodeSchema);

export type Nodes = z.infer<typeof nodesSchema>;

/**
 * A workflow of ComfyUI in its API format, with placeholders such as `{prompt}` in the inputs of its nodes. Reference
 * images are `{image1}` to `{image3}`, or `{image1?}` to `{image3?}`: without such an image, the node with the question
 * mark is left out, and so is every input that is linked to it.
 */
export type Workflow = {
  readonly nodes: Nodes;
  /** 0 if every placeholder for an image is optional, or there is none. */
  readonly imagesMin: number;
  /** The highest number of an image that has a placeholder. */
  readonly imagesMax: number;
};

/** The values of the placeholders by name. `image2` is absent if there are fewer images. */
export type PlaceholderValues<Image> = {
  readonly text: Readonly<Record<string, string | number>>;
  readonly images: readonly Image[];
};

const PLACEHOLDER = /\{(prompt|leading_prompt|negative_prompt|seed|width|height|image[1-3]\??)\}/g;

/** The nodes of ComfyUI and of its extensions that save an image have such names. */
const OUTPUT_NODE = /save|preview/i;

/** The error completes "COMFYUI_WORKFLOW=file: …" in a line for the operator. */
export const parseWorkflow = (json: unknown): Result<Workflow, string> => {
  const { data: nodes } = nodesSchema.safeParse(json);
  if (nodes === undefined) return err("not a workflow in API format; export it with File, Export (API)");
  const used = new Set(Object.values(nodes).flatMap(({ inputs }) => Object.values(inputs).flatMap(placeholdersIn)));
  if (!used.has("prompt") && !used.has("leading_prompt")) {
    return err("no input of a node has the placeholder {prompt} or {leading_prompt}");
  }
  if (!Object.values(nodes).some(({ class_type }) => OUTPUT_NODE.test(class_type))) {
    return err("no output node, such as SaveImage");
  }
  const numbers = Array.from({ length: IMAGE_URLS_MAX }, (_, index) => index + 1);
  const required = numbers.filter((n) => used.has(`image${n}`));
  const optional = numbers.filter((n) => used.has(`image${n}?`));
  return ok({
    nodes,
    imagesMin: required.length === 0 ? 0 : 1,
    imagesMax: Math.max(0, ...required, ...optional),
  });
};

export const abilitiesIn = ({ imagesMin, imagesMax }: Workflow): Abilities => ({
  ...ALL_ABILITIES,
  imagesMin,
  imagesMax,
});

/** True if an input has no placeholder. */
export const isConstant = (input: unknown): input is string =>
  typeof input === "string" && placeholdersIn(input).length === 0;

/** The inputs of other nodes that are linked to a node which is left out without an image. */
export const optionalLinks = (nodes: Nodes): readonly { readonly class_type: string; readonly input: string }[] => {
  const optional = new Set(Object.keys(nodes).filter((id) => isLeftOut(nodes[id], [])));
  return Object.values(nodes).flatMap(({ class_type, inputs }) =>
    Object.entries(inputs).flatMap(([input, value]) => (isLinkTo(optional, value) ? [{ class_type, input }] : [])),
  );
};

/**
 * An input that is one placeholder becomes its value; a placeholder in a longer text becomes a part of the text. If a
 * request has fewer images than required placeholders, the last image fills the rest.
 */
export const filled = <Image>(nodes: Nodes, values: PlaceholderValues<Image>): Nodes => {
  const leftOut = new Set(Object.keys(nodes).filter((id) => isLeftOut(nodes[id], values.images)));
  return Object.fromEntries(
    Object.entries(nodes)
      .filter(([id]) => !leftOut.has(id))
      .map(([id, node]) => {
        const inputs = Object.entries(node.inputs)
          .filter(([, input]) => !isLinkTo(leftOut, input))
          .map(([name, input]) => [name, filledInput(input, values)]);
        return [id, { ...node, inputs: Object.fromEntries(inputs) }];
      }),
  );
};

/** True if an input of the node is an optional placeholder of an image that was not sent. */
const isLeftOut = (node: Nodes[string] | undefined, images: readonly unknown[]): boolean =>
  Object.values(node?.inputs ?? {})
    .flatMap(placeholdersIn)
    .some((name) => name.endsWith("?") && numberOf(name) > images.length);

/** A link is `[node id, number of its output]`. */
const isLinkTo = (ids: ReadonlySet<string>, input: unknown): boolean =>
  Array.isArray(input) && ids.has(String(input[0]));

const filledInput = <Image>(input: unknown, values: PlaceholderValues<Image>): unknown => {
  if (typeof input !== "string") return input;
  const [name] = placeholdersIn(input);
  if (name !== undefined && input === `{${name}}`) return placeholderValue(name, values);
  // In one pass, so that a placeholder in the customer's prompt stays unchanged.
  return input.replace(PLACEHOLDER, (_, placeholder: string) => String(placeholderValue(placeholder, values)));
};

const placeholderValue = <Image>(name: string, { text, images }: PlaceholderValues<Image>): Image | string | number =>
  (name.startsWith("image") ? images[Math.min(numberOf(name), images.length) - 1] : text[name]) ?? "";

const numberOf = (image: string): number => Number(image.slice("image".length, "image".length + 1));

const placeholdersIn = (input: unknown): string[] =>
  typeof input === "string" ? [...input.matchAll(PLACEHOLDER)].map(([, name = ""]) => name) : [];

/** Open models repeat parts of the picture above two megapixels. */
const LARGEST = RESOLUTIONS["2k"];
const NEGATIVE_PROMPT = "blurry, low quality, distorted, text, watermark, frame, border, visible seam";

/** Values for the placeholders of an order, without images. */
export const workflowText = (
  { taskId, request }: GenerationOrder,
  { promptFor }: Pick<CreationContext, "promptFor">,
): PlaceholderValues<never>["text"] => {
  const { widthPixels, heightPixels } = request.resolution === "1k" ? RESOLUTIONS[request.resolution] : LARGEST;
  return {
    prompt: request.prompt ?? NEUTRAL_PROMPT,
    leading_prompt: promptFor(request),
    negative_prompt: NEGATIVE_PROMPT,
    seed: request.seed ?? correlationSeed(taskId),
    width: widthPixels,
    height: heightPixels,
  };
};
