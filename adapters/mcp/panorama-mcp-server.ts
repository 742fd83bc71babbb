import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import type { AllowedFolders } from "./allowed-folders.js";
import { generateTools } from "./generate-tools.js";
import { getCreditBalance } from "./get-credit-balance.js";
import { getPanoramaTask } from "./get-panorama-task.js";
import { MCP_VERSION } from "./mcp-version.js";
import type { ToolAnswer } from "./tool.js";
import type { ToolError } from "./tool-error.js";
import { uploadReferenceImages } from "./upload-reference-images.js";

const INSTRUCTIONS =
  "Makes 360° panoramas. Call generate_panorama_from_text or generate_panorama_from_images once, then get_panorama_task " +
  "with the returned id until it has succeeded or failed; never submit the same prompt again to see how it goes. " +
  "Local images go through upload_reference_images first. Generating spends the person's credits: 4 for 1k, 6 for 2k, " +
  "10 for 4k; use max_credits when the person names a limit.";

type Dependencies = {
  readonly client: PanoramaClient;
  /** Where the service's pages are, for what the person is told. */
  readonly site: string;
  readonly folders: AllowedFolders;
  readonly newIdempotencyKey: () => string;
  /** One line about one call; it never holds arguments, answers or the key. */
  readonly log: (line: string) => void;
};

/**
 * The five tools of the specification (Local MCP tools) over the REST client.
 *
 * The protocol classes of the SDK are used directly, not its `McpServer`: a broken argument is then answered in our
 * words and with our codes, as every other error is.
 */
export const panoramaMcpServer = (dependencies: Dependencies): Server => {
  const { log } = dependencies;
  const tools = [
    ...generateTools(dependencies),
    getPanoramaTask(dependencies),
    getCreditBalance(dependencies),
    uploadReferenceImages(dependencies),
  ];
  const server = new Server(
    { name: "panorama", title: "Panorama generation", version: MCP_VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );

  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ run: _, ...description }) => description),
  }));

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification, _meta }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, "There is no such tool.");
    const progressToken = _meta?.progressToken;
    const progress = async (seconds: number, total: number, message: string) => {
      if (progressToken === undefined || signal.aborted) return;
      await sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress: seconds, total, message },
      }).catch(() => {
        // The client has gone: there is nobody left to tell.
      });
    };
    try {
      const answered = await tool.run(params.arguments, { signal, progress });
      log(`${tool.name}: ${answered.isOk() ? "ok" : answered.error.code}`);
      return answered.match(answerOf, errorOf);
    } catch (error) {
      log(`${tool.name}: bug: ${error instanceof Error ? error.stack : String(error)}`);
      return errorOf(bug);
    }
  });

  return server;
};

/** The JSON as text too, for clients that do not know structured content. */
const answerOf = ({ structured, text, attachments }: ToolAnswer<Record<string, unknown>>): CallToolResult => ({
  content: [{ type: "text", text: JSON.stringify(structured) }, { type: "text", text }, ...(attachments ?? [])],
  structuredContent: structured,
});

/** Without structured content: clients check it against the output schema even on errors. */
const errorOf = (error: ToolError): CallToolResult => ({
  isError: true,
  content: [{ type: "text", text: JSON.stringify({ error }) }],
});

const bug: ToolError = {
  code: "internal_error",
  message: "The MCP server itself failed; its log has the details.",
  what_to_do: "Tell the person. Before a creation is repeated, look with get_credit_balance whether it was charged.",
};
