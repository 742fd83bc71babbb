import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/server";
import { err, type Result } from "neverthrow";
import * as z from "zod";
import { invalidRequest } from "../../domain/invalid-request.js";
import { invalidArguments, refusedArguments, type ToolError } from "./tool-error.js";

/** For the requests of one call. With the read of the offer before them, below the 60 s of MCP clients. */
export const CALL_MILLISECONDS = 39_000;

/** The context of one call. `progress` does nothing if the client did not request progress. */
export type ToolCall = {
  readonly signal: AbortSignal;
  readonly progress: (seconds: number, totalSeconds: number, message: string) => Promise<void>;
};

/** `structured` matches the output schema of the tool. `message` says the same in words, and what to do next. */
export type ToolAnswer<Output> = { readonly structured: Output; readonly message: string };

/** The message is a member of the JSON: many clients hand one text to the model, and refuse other kinds of content. */
const message = z.string().describe("The same in words, and what to do next. Tell the person what concerns them.");

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly run: (args: unknown, call: ToolCall) => Promise<Result<Record<string, unknown>, ToolError>>;
};

type JsonSchema = {
  readonly type: "object";
  readonly properties?: Readonly<Record<string, { readonly minimum?: number; readonly maximum?: number }>>;
  readonly [keyword: string]: unknown;
};

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
export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Definition<Input, Output>,
): Tool {
  const { name, title, description, annotations, input, run } = definition;
  const output = definition.output.extend({ message });
  const inputSchema = jsonSchema(input, "input");
  return {
    name,
    title,
    description,
    annotations: { title, ...annotations },
    inputSchema,
    outputSchema: jsonSchema(output, "output"),
    run: async (args, call) => {
      const parsed = input.safeParse(withoutNulls(args ?? {}), { reportInput: true });
      if (!parsed.success) return err(refusalOf(parsed.error, inputSchema));
      const answered = await run(parsed.data, call);
      // The REST interface may answer with more members than the tool declares.
      return answered.map((answer) => output.parse({ ...answer.structured, message: answer.message }));
    },
  };
}

/** Models send `null` for omitted values, as REST clients do. */
const withoutNulls = (args: unknown): unknown =>
  typeof args === "object" && args !== null && !Array.isArray(args)
    ? Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
    : args;

/** JSON Schema draft 7 without `$schema`: the form that the validators of all MCP clients support. */
function jsonSchema(schema: z.ZodObject, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: "draft-7", io });
  return { ...rest, type: "object" } as JsonSchema;
}

/** The first broken rule of an input schema, in the words of the REST interface. */
function refusalOf({ issues: [issue] }: z.ZodError, { properties = {} }: JsonSchema): ToolError {
  if (issue === undefined) throw new Error("zod refused arguments without an issue");
  if (issue.code === "unrecognized_keys") {
    const place = argumentOf(issue.path);
    const unknown = issue.keys.map((key) => JSON.stringify(key)).join(", ");
    const known = place === undefined ? ` The arguments are ${Object.keys(properties).join(", ") || "none"}.` : "";
    return invalidArguments(
      `${place ?? "arguments"}: ${unknown} does not exist.${known}`,
      `Call the tool again without ${unknown}.`,
    );
  }
  const argument = argumentOf(issue.path) ?? "arguments";
  const refused = (rule: Parameters<typeof invalidRequest>[1]) => refusedArguments(invalidRequest(argument, rule));
  const { input: actual } = issue;
  switch (issue.code) {
    case "invalid_value":
      return refused({ name: "one_of", allowed: issue.values.map(String), actual });
    case "invalid_type": {
      const text = EXPECTED[issue.expected];
      if (text !== undefined) return refused({ name: "type", expected: text, actual });
      break;
    }
    default:
  }
  const { minimum, maximum } = properties[String(issue.path[0])] ?? {};
  if (issue.path.length === 1 && minimum !== undefined) {
    return refused({ name: "integer", min: minimum, max: maximum ?? Number.MAX_SAFE_INTEGER, actual });
  }
  return invalidArguments(`${argument}: ${issue.message}`, `Correct ${argument} and call the tool again.`);
}

const EXPECTED: Partial<Record<string, "string" | "strings" | "object">> = {
  string: "string",
  array: "strings",
  object: "object",
};

/** `images[2].name` */
const argumentOf = ([argument, ...path]: readonly PropertyKey[]): string | undefined =>
  argument === undefined
    ? undefined
    : `${String(argument)}${path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("")}`;

/**
 * The result of a tool: its JSON, and the same as text, for clients that do not support structured content. Nothing
 * else: adapters of agent frameworks throw at a second block, a link or an image, after the credits are spent.
 */
export const callResultOf = (structured: Record<string, unknown>): CallToolResult => ({
  content: [{ type: "text", text: JSON.stringify(structured) }],
  structuredContent: structured,
});

/** Has no structured content, because clients validate it against the output schema even for errors. */
export const errorResultOf = (error: ToolError): CallToolResult => ({
  isError: true,
  content: [{ type: "text", text: JSON.stringify({ error }) }],
});
