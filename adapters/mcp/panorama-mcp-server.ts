import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import type { Offer } from "../client/offer.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { abilitiesOf } from "../client/told-abilities.js";
import { imagesSentence } from "../wording/abilities-sentence.js";
import { pricesSentence } from "../wording/prices.js";
import type { AllowedFolders } from "./allowed-folders.js";
import { generateTools } from "./generate-tools.js";
import { getCreditBalance } from "./get-credit-balance.js";
import { getPanoramaTask } from "./get-panorama-task.js";
import { MCP_VERSION } from "./mcp-version.js";
import type { ToolAnswer } from "./tool.js";
import type { ToolError } from "./tool-error.js";
import type { UnconfirmedCreations } from "./unconfirmed-creations.js";
import { uploadReferenceImages } from "./upload-reference-images.js";

const instructions = ({ prices, abilities }: Offer): string =>
  "Generates 360° panoramas. Call generate_panorama_from_text or generate_panorama_from_images once, then " +
  "get_panorama_task with the returned id until the task has succeeded or failed. Never submit the same prompt again to " +
  "check the progress. Upload local images with upload_reference_images first. " +
  `${imagesSentence(abilitiesOf(abilities))} ` +
  `Generating spends the person's credits: a panorama costs ${pricesSentence(prices)}. Use max_credits when the person names a limit.`;

type Dependencies = {
  /** Prices and limits of the service, and what it can make, as they are at the start. */
  readonly offer: Offer;
  readonly client: PanoramaClient;
  /** URL of the service's web pages, for messages to the person. */
  readonly site: string;
  readonly folders: AllowedFolders;
  readonly unconfirmed: UnconfirmedCreations;
  /** Takes one line for each call. It never contains arguments, answers or the key. */
  readonly log: (line: string) => void;
};

/**
 * The five tools of the specification (Local MCP tools), implemented with the REST client.
 *
 * Uses the protocol classes of the SDK, not its `McpServer`, so that invalid arguments get the same codes and the same
 * kind of message as every other error.
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
    { capabilities: { tools: {} }, instructions: instructions(dependencies.offer) },
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
        // The client has disconnected.
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

/** Repeats the JSON as text, for clients that do not support structured content. */
const answerOf = ({ structured, text, attachments }: ToolAnswer<Record<string, unknown>>): CallToolResult => ({
  content: [{ type: "text", text: JSON.stringify(structured) }, { type: "text", text }, ...(attachments ?? [])],
  structuredContent: structured,
});

/** Has no structured content, because clients validate it against the output schema even for errors. */
const errorOf = (error: ToolError): CallToolResult => ({
  isError: true,
  content: [{ type: "text", text: JSON.stringify({ error }) }],
});

const bug: ToolError = {
  code: "internal_error",
  message: "The MCP server failed with an unexpected error. Its log has the details.",
  what_to_do: "Tell the person. Before you repeat a creation, check with get_credit_balance whether it was charged.",
};
