import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ToolAnswer } from "./tool.js";
import type { ToolError } from "./tool-error.js";

/**
 * The result of a tool. Repeats the JSON as text, for clients that do not support structured content; the words, which
 * are for both, say what to do next.
 */
export const callResultOf = ({
  structured,
  text,
  attachments,
}: ToolAnswer<Record<string, unknown>>): CallToolResult => ({
  content: [
    { type: "text", text: JSON.stringify(structured), annotations: { audience: ["assistant"], priority: 0.5 } },
    { type: "text", text, annotations: { audience: ["user", "assistant"], priority: 1 } },
    ...(attachments ?? []),
  ],
  structuredContent: structured,
});

/** Has no structured content, because clients validate it against the output schema even for errors. */
export const errorResultOf = (error: ToolError): CallToolResult => ({
  isError: true,
  content: [{ type: "text", text: JSON.stringify({ error }), annotations: { audience: ["assistant"], priority: 1 } }],
});
