import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ToolError } from "./tool-error.js";

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
