import {
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { err } from "neverthrow";
import type { Clock } from "../../application/ports/clock.js";
import { abilitiesOf, type Offer } from "../client/offer.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { pricesSentence } from "../wording/numbers.js";
import { imagesSentence } from "../wording/sentences.js";
import type { AllowedFolders } from "./allowed-folders.js";
import type { downloadFromWeb } from "./download-from-web.js";
import { generateTools } from "./generate-tools.js";
import { getCreditBalance } from "./get-credit-balance.js";
import { getPanoramaTask } from "./get-panorama-task.js";
import { MCP_VERSION } from "./mcp-configuration.js";
import { RESOURCE_TEMPLATES, RESOURCES, readResource } from "./task-resources.js";
import { answerTasks, declaresTasks, startedTask, TASKS_EXTENSION } from "./tasks-extension.js";
import { callResultOf, errorResultOf, type Tool, type ToolCall } from "./tool.js";
import type { ToolError } from "./tool-error.js";
import type { UnconfirmedCreations } from "./unconfirmed-creations.js";
import { uploadReferenceImages } from "./upload-reference-images.js";

const instructions = ({ prices, abilities }: Offer): string =>
  "Generates 360° panoramas. Call generate_panorama_from_text or generate_panorama_from_images once, then " +
  "get_panorama_task with the returned id until the task has succeeded or failed. Never submit the same prompt again to " +
  "check the progress; the resource panorama://recent shows the existing panoramas. Upload local images with " +
  `upload_reference_images first. ${imagesSentence(abilitiesOf(abilities))} ` +
  `Generating spends the person's credits: a panorama costs ${pricesSentence(prices)}. Use max_credits when the person ` +
  "names a limit. After an error, do what its what_to_do says.";

export type McpDependencies = {
  /** Current prices, limits and abilities of the service. */
  readonly offer: () => Promise<Offer>;
  readonly client: PanoramaClient;
  /** URL of the service's web pages, for messages to the person. */
  readonly site: string;
  readonly folders: AllowedFolders;
  readonly unconfirmed: UnconfirmedCreations;
  readonly clock: Clock;
  readonly download: typeof downloadFromWeb;
  /** Takes one line for each call. It never contains arguments, answers or the key. */
  readonly log: (line: string) => void;
};

/** Lists change with the installation, and the texts name folders of the person. */
const LIST_CACHE = { ttlMs: 60_000, cacheScope: "private" } as const;
const PROGRESS_MILLISECONDS_MIN = 1_000;

/**
 * Makes the server of a connection: the five tools of the specification (Local MCP tools), implemented with the REST
 * client, and the account's panoramas as resources. `serveStdio` asks for one when it knows the client's generation.
 *
 * Uses the protocol class of the SDK, not its `McpServer`, so that invalid arguments get the same codes and the same
 * kind of message as every other error.
 */
export function panoramaMcpServer(dependencies: McpDependencies) {
  const readTask = getPanoramaTask(dependencies);
  const readTools = async (): Promise<readonly Tool[]> => {
    const offer = await dependencies.offer();
    const now = { ...dependencies, offer };
    return [...generateTools(now), readTask, getCreditBalance(now), uploadReferenceImages(now)];
  };

  return async ({ era }: Pick<McpRequestContext, "era">): Promise<Server> => {
    const server = new Server(serverInfo(dependencies.site), {
      capabilities: {
        tools: {},
        resources: {},
        ...(era === "modern" && { extensions: { [TASKS_EXTENSION]: {} } }),
      },
      instructions: instructions(await dependencies.offer()),
      cacheHints: {
        "tools/list": LIST_CACHE,
        "resources/list": LIST_CACHE,
        "resources/templates/list": LIST_CACHE,
        "server/discover": LIST_CACHE,
      },
    });
    server.setRequestHandler("tools/list", async () => ({
      tools: (await readTools()).map(({ run: _, ...description }) => description),
    }));
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const startedAt = dependencies.clock.now();
      // Most calls read a task, which needs no prices.
      const tool =
        params.name === readTask.name ? readTask : (await readTools()).find(({ name }) => name === params.name);
      if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such tool.");
      const answered = await answerCall(tool, params.arguments, callOf(context, dependencies.clock), dependencies.log);
      if (answered.isErr()) return errorResultOf(answered.error);
      const structured = answered.value;
      if (tool.annotations.readOnlyHint === false && structured.status === "processing" && declaresTasks(context)) {
        const { signal } = context.mcpReq;
        return { content: [], ...(await startedTask(String(structured.id), dependencies, { signal, startedAt })) };
      }
      return callResultOf(structured);
    });
    answerResources(server, dependencies);
    if (era === "modern") answerTasks(server, dependencies);
    return server;
  };
}

const serverInfo = (site: string) => ({
  name: "panorama",
  title: "Panorama generation",
  version: MCP_VERSION,
  websiteUrl: `${site}/mcp`,
  icons: [{ src: ICON, mimeType: "image/svg+xml", sizes: ["any"] }],
});

/** In the message, because a client may show it without asking the network. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#4156d8" stroke-width="2.4">' +
    '<circle cx="16" cy="16" r="13"/><path d="M3.6 19.5c7-5.2 17.8-5.2 24.8 0"/>' +
    '<circle cx="20.5" cy="10.5" r="2.6" fill="#4156d8" stroke="none"/></svg>',
)}`;

function callOf({ mcpReq: { signal, notify, _meta } }: ServerContext, clock: Clock): ToolCall {
  const progressToken = _meta?.progressToken;
  let sentAt = Number.NEGATIVE_INFINITY;
  const progress = async (seconds: number, total: number, message: string) => {
    const now = clock.now().getTime();
    if (progressToken === undefined || signal.aborted || now - sentAt < PROGRESS_MILLISECONDS_MIN) return;
    sentAt = now;
    const params = { progressToken, progress: seconds, total, message };
    await notify({ method: "notifications/progress", params }).catch(() => {
      // The client has disconnected.
    });
  };
  return { signal, progress };
}

async function answerCall(tool: Tool, args: unknown, call: ToolCall, log: McpDependencies["log"]) {
  try {
    const answered = await tool.run(args, call);
    log(`${tool.name}: ${answered.isOk() ? "ok" : answered.error.code}`);
    return answered;
  } catch (error) {
    log(`${tool.name}: bug: ${error instanceof Error ? error.stack : String(error)}`);
    return err(bug);
  }
}

function answerResources(server: Server, dependencies: McpDependencies): void {
  server.setRequestHandler("resources/list", () => ({ resources: [...RESOURCES] }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...RESOURCE_TEMPLATES] }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const read = await readResource(uri, dependencies, signal);
    dependencies.log(
      `resource: ${
        read === undefined
          ? "not_found"
          : read.match(
              () => "ok",
              ({ code }) => code,
            )
      }`,
    );
    if (read === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such resource.", { uri });
    if (read.isOk()) return read.value;
    const { message, what_to_do } = read.error;
    throw new ProtocolError(ProtocolErrorCode.InternalError, `${message} ${what_to_do}`, read.error);
  });
}

const bug: ToolError = {
  code: "internal_error",
  message: "The MCP server failed with an unexpected error. Its log has the details.",
  what_to_do:
    "Tell the person. Before you repeat a creation, read the resource panorama://recent to see whether it exists.",
};
