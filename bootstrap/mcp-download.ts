import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { McpDownload } from "../adapters/http/mcp-routes.js";
import { MCP_PACKAGE_PATH } from "../adapters/mcp/mcp-configuration.js";
import { packMcpServer, readMcpBundle } from "../adapters/mcp/mcp-package.js";
import { mcpPage } from "../adapters/mcp/mcp-page.js";

/** Beside the compiled service, or, when that runs from its sources, where the last build put it. */
const BUNDLES = ["../mcp/panorama-mcp.js", "../dist/mcp/panorama-mcp.js"];

/** The MCP server packed for this service's origin; `undefined` if it is not built. */
export const mcpDownload = async (publicUrl: string): Promise<McpDownload | undefined> => {
  const bundle = BUNDLES.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  if (bundle === undefined) return undefined;
  const directory = fileURLToPath(new URL(".", bundle));
  return {
    page: mcpPage(publicUrl),
    packagePath: MCP_PACKAGE_PATH,
    package: packMcpServer(await readMcpBundle(directory), publicUrl),
  };
};
