import { randomUUID } from "node:crypto";
import { PanoramaClient } from "../adapters/client/panorama-client.js";
import { parseServiceUrl, siteOf } from "../adapters/client/service-url.js";
import { AllowedFolders } from "../adapters/mcp/allowed-folders.js";
import { panoramaMcpServer } from "../adapters/mcp/panorama-mcp-server.js";
import { serveOnStdio } from "../adapters/mcp/serve-on-stdio.js";
import { rulePredicate } from "../adapters/wording/rule-predicate.js";

const log = (line: string) => process.stderr.write(`panorama-mcp: ${line}\n`);

/**
 * The stdio MCP server as a process: reads PANORAMA_API_KEY, PANORAMA_BASE_URL and PANORAMA_UPLOAD_DIRS, serves until
 * stdin ends, then ends the process. Stdout belongs to the protocol; everything else goes to stderr.
 */
export const runMcp = async (environment: NodeJS.ProcessEnv, defaultAddress: string): Promise<never> => {
  const baseUrl = parseServiceUrl(environment.PANORAMA_BASE_URL || defaultAddress);
  if (baseUrl.isErr()) return end(1, `PANORAMA_BASE_URL: ${rulePredicate(baseUrl.error.rule)}`);
  const apiKey = environment.PANORAMA_API_KEY ?? "";
  // The tools can still be listed, and say what to do when they are called: more than a server that does not start.
  if (apiKey === "") log("PANORAMA_API_KEY is not set: every tool will answer invalid_api_key");

  const server = panoramaMcpServer({
    client: new PanoramaClient({ baseUrl: baseUrl.value, apiKey }),
    site: siteOf(baseUrl.value),
    folders: new AllowedFolders(environment.PANORAMA_UPLOAD_DIRS ?? ""),
    newIdempotencyKey: randomUUID,
    log,
  });
  try {
    await serveOnStdio(server, process);
    return end(0);
  } catch (error) {
    return end(1, `the session broke: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const end = (status: number, line?: string): never => {
  if (line !== undefined) log(line);
  process.exit(status);
};
