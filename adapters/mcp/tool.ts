import type { ContentBlock, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import { err, type Result } from "neverthrow";
import { z } from "zod";
import { invalidArguments, type ToolError } from "./tool-error.js";

/** The context of one call. `progress` does nothing if the client did not request progress. */
export type ToolCall = {
  readonly signal: AbortSignal;
  readonly progress: (seconds: number, totalSeconds: number, message: string) => Promise<void>;
};

/** `structured` matches the output schema of the tool. `text` says the same in words, and what to do next. */
export type ToolAnswer<Output> = {
  readonly structured: Output;
  readonly text: string;
  readonly attachments?: readonly ContentBlock[];
};

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly run: (args: unknown, call: ToolCall) => Promise<Result<ToolAnswer<Record<string, unknown>>, ToolError>>;
};

type JsonSchema = { readonly type: "object"; readonly [keyword: string]: unknown };

type Definition<Input extends z.ZodObject, Output extends z.ZodObject> = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly input: Input;
  readonly output: Output;
  readonly run: (args: z.output<Input>, call: ToolCall) => Promise<Result<ToolAnswer<z.infer<Output>>, ToolError>>;
};

/** Arguments that do not match the input schema are answered with `invalid_request`, and `run` is not called. */
export const tool = <Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Definition<Input, Output>,
): Tool => {
  const { name, title, description, annotations, input, output, run } = definition;
  return {
    name,
    title,
    description,
    annotations: { title, ...annotations },
    inputSchema: jsonSchema(input, "input"),
    outputSchema: jsonSchema(output, "output"),
    run: async (args, call) => {
      const parsed = input.safeParse(args ?? {});
      if (!parsed.success) return err(invalidArguments(schemaMessage(parsed.error)));
      const answered = await run(parsed.data, call);
      // The REST interface may answer with more members than the tool declares.
      return answered.map((answer) => ({ ...answer, structured: output.parse(answer.structured) }));
    },
  };
};

/** JSON Schema draft 7 without `$schema`: the form that the validators of all MCP clients support. */
const jsonSchema = (schema: z.ZodObject, io: "input" | "output"): JsonSchema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: "draft-7", io });
  return { ...rest, type: "object" };
};

/** The first broken rule of an input schema, as `argument: what is wrong.` */
const schemaMessage = ({ issues: [issue] }: z.ZodError): string => {
  if (issue === undefined) return "arguments: are invalid.";
  const [argument = "arguments", ...path] = issue.path;
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`));
  return `${String(argument)}${steps.join("")}: ${issue.message}`;
};
