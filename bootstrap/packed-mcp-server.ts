import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { McpPackage } from "../adapters/http/mcp-package-route.js";
import { MCP_PACKAGE_PATH } from "../adapters/mcp/mcp-configuration.js";
import { packMcpServer, readMcpBundle } from "../adapters/mcp/mcp-package.js";

/** Beside the compiled service, or, when that runs from its sources, where the last build put it. */
const BUNDLES = ["../mcp/panorama-mcp.js", "../dist/mcp/panorama-mcp.js"];

/** The MCP server packed for this service's origin; `undefined` if it is not built. */
export const packedMcpServer = async (publicUrl: string): Promise<McpPackage | undefined> => {
  const bundle = BUNDLES.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  if (bundle === undefined) return undefined;
  const directory = fileURLToPath(new URL(".", bundle));
  return { path: MCP_PACKAGE_PATH, bytes: packMcpServer(await readMcpBundle(directory), publicUrl) };
};
