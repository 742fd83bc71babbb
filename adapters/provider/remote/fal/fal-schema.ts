import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import { checkedJson, type Read, unchecked } from "../dialect.js";
import type { CheckFailure } from "../remote-options.js";

/** One possible shape of an input. Of JSON Schema only what fal uses and this adapter needs. */
export type InputShape = {
  readonly type?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly maxItems?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly multipleOf?: number | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
};

/** Inputs of an endpoint, as fal publishes them. */
export type FalSchema = {
  /** Each input with its shapes: it may be `anyOf` several. */
  readonly inputs: ReadonlyMap<string, readonly InputShape[]>;
  readonly required: readonly string[];
  /** The shapes that a schema has inside of another one, such as the width in an image size. */
  shapesOf(schema: unknown): readonly InputShape[];
};

const nodeSchema = z.looseObject({
  $ref: z.string().optional().catch(undefined),
  anyOf: z.array(z.unknown()).optional().catch(undefined),
  allOf: z.array(z.unknown()).optional().catch(undefined),
  oneOf: z.array(z.unknown()).optional().catch(undefined),
  type: z.string().optional().catch(undefined),
  enum: z.array(z.unknown()).optional().catch(undefined),
  maxItems: z.number().optional().catch(undefined),
  maxLength: z.number().optional().catch(undefined),
  minimum: z.number().optional().catch(undefined),
  maximum: z.number().optional().catch(undefined),
  multipleOf: z.int().min(1).optional().catch(undefined),
  properties: z.record(z.string(), z.unknown()).optional().catch(undefined),
  required: z.array(z.string()).optional().catch(undefined),
});

const openapiSchema = z.object({
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
  paths: z.record(z.string(), z.unknown()),
});
const postSchema = z.object({
  post: z.object({
    requestBody: z.object({ content: z.object({ "application/json": z.object({ schema: z.unknown() }) }) }),
  }),
});
/** fal answers for an unknown id with no model, or with one that has no metadata. */
const modelsSchema = z.object({
  models: z.array(
    z.object({ endpoint_id: z.string(), metadata: z.unknown().optional(), openapi: z.unknown().optional() }),
  ),
});

/** A schema may refer to itself. */
const DEPTH_MAX = 6;

/** Reads what fal publishes of an endpoint. `undefined` if fal has no such endpoint. */
export const readFalSchema = async (id: string, read: Read): Promise<Result<FalSchema | undefined, CheckFailure>> => {
  const answer = await read(`/models?${new URLSearchParams({ endpoint_id: id, expand: "openapi-3.0" })}`);
  if (answer.isOk() && answer.value.status === 404) return ok(undefined);
  return checkedJson(answer, "FAL_API_KEY").andThen((body): Result<FalSchema | undefined, CheckFailure> => {
    const { data } = modelsSchema.safeParse(body);
    if (data === undefined) return err(unchecked("the answer is not a list of models"));
    const model = data.models.find(({ endpoint_id }) => endpoint_id === id);
    if (model === undefined || (model.metadata ?? model.openapi ?? null) === null) return ok(undefined);
    const schema = schemaIn(model.openapi);
    return schema === undefined ? err(unchecked(`the answer has no schema of ${id}`)) : ok(schema);
  });
};

const schemaIn = (openapi: unknown): FalSchema | undefined => {
  const { data } = openapiSchema.safeParse(openapi);
  if (data === undefined) return undefined;
  const shapesOf = (schema: unknown) => shapes(schema, data.components.schemas, 0);
  for (const path of Object.values(data.paths)) {
    const body = postSchema.safeParse(path).data?.post.requestBody.content["application/json"].schema;
    const input = shapesOf(body).find(({ properties }) => properties !== undefined);
    if (input?.properties === undefined) continue;
    const inputs = new Map(Object.entries(input.properties).map(([name, schema]) => [name, shapesOf(schema)]));
    return { inputs, required: input.required ?? [], shapesOf };
  }
  return undefined;
};

const shapes = (
  schema: unknown,
  components: Readonly<Record<string, unknown>>,
  depth: number,
): readonly z.infer<typeof nodeSchema>[] => {
  const { data: node } = nodeSchema.safeParse(schema);
  if (node === undefined || depth > DEPTH_MAX) return [];
  const { $ref, anyOf = [], allOf = [], oneOf = [] } = node;
  const referred = $ref === undefined ? [] : [components[$ref.replace(/^#\/components\/schemas\//, "")]];
  const others = [...referred, ...anyOf, ...allOf, ...oneOf];
  return others.length === 0 ? [node] : others.flatMap((other) => shapes(other, components, depth + 1));
};
