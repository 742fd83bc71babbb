import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import { IMAGE_URLS_MAX } from "../../../../domain/creation-request.js";

const nodeSchema = z.looseObject({ class_type: z.string().min(1), inputs: z.record(z.string(), z.unknown()) });
const nodesSchema = z.record(z.string(), nodeSchema);

export type Nodes = z.infer<typeof nodesSchema>;

/** A workflow of ComfyUI in its API format, with placeholders such as `{prompt}` in the inputs of its nodes. */
export type Workflow = {
  readonly nodes: Nodes;
  /** The number of reference images that it has placeholders for: `{image1}`, `{image2}`, `{image3}`. */
  readonly imagesMax: number;
};

/** The values of the placeholders by name. */
export type PlaceholderValues = Readonly<Record<string, string | number>>;

const PLACEHOLDER = /\{(prompt|negative_prompt|seed|width|height|image[1-3])\}/g;

/** The nodes of ComfyUI and of its extensions that save an image have such names. */
const OUTPUT_NODE = /save|preview/i;

/** The error completes "COMFYUI_WORKFLOW=file: …" in a line for the operator. */
export const parseWorkflow = (json: unknown): Result<Workflow, string> => {
  const { data: nodes } = nodesSchema.safeParse(json);
  if (nodes === undefined) return err("not a workflow in API format; export it with File, Export (API)");
  const used = new Set(Object.values(nodes).flatMap(({ inputs }) => Object.values(inputs).flatMap(placeholdersIn)));
  if (!used.has("prompt")) return err("no input of a node has the placeholder {prompt}");
  if (!Object.values(nodes).some(({ class_type }) => OUTPUT_NODE.test(class_type))) {
    return err("no output node, such as SaveImage");
  }
  const numbers = Array.from({ length: IMAGE_URLS_MAX }, (_, index) => index + 1);
  return ok({ nodes, imagesMax: Math.max(0, ...numbers.filter((n) => used.has(`image${n}`))) });
};

/** Whether an input has no placeholder, and is what the operator wrote. */
export const isConstant = (input: unknown): input is string =>
  typeof input === "string" && placeholdersIn(input).length === 0;

/** An input that is one placeholder becomes its value; a placeholder in a longer text becomes a part of the text. */
export const filled = (nodes: Nodes, values: PlaceholderValues): Nodes =>
  Object.fromEntries(
    Object.entries(nodes).map(([id, node]) => {
      const inputs = Object.entries(node.inputs).map(([name, input]) => [name, filledInput(input, values)]);
      return [id, { ...node, inputs: Object.fromEntries(inputs) }];
    }),
  );

const filledInput = (input: unknown, values: PlaceholderValues): unknown => {
  if (typeof input !== "string") return input;
  const [name] = placeholdersIn(input);
  if (name !== undefined && input === `{${name}}`) return values[name] ?? "";
  // In one pass, so that a placeholder in the customer's prompt stays what it is.
  return input.replace(PLACEHOLDER, (_, placeholder: string) => String(values[placeholder] ?? ""));
};

const placeholdersIn = (input: unknown): string[] =>
  typeof input === "string" ? [...input.matchAll(PLACEHOLDER)].map(([, name = ""]) => name) : [];
