import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { McpPackage } from "../adapters/http/routes/mcp-package-route.js";
import { MCP_PACKAGE_PATH } from "../adapters/mcp/mcp-configuration.js";
import { packMcpServer, readMcpBundle } from "../adapters/mcp/mcp-package.js";

/** Next to the compiled service. If the service runs from its TypeScript sources: the output of the last build. */
const BUNDLES = ["../mcp/panorama-mcp.js", "../dist/mcp/panorama-mcp.js"];

/** The MCP server, packed together with this service's origin on request; `undefined` if it is not built. */
export const packedMcpServer = (publicUrl: string): McpPackage | undefined => {
  const bundle = BUNDLES.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  if (bundle === undefined) return undefined;
  const directory = fileURLToPath(new URL(".", bundle));
  return { path: MCP_PACKAGE_PATH, pack: async () => packMcpServer(await readMcpBundle(directory), publicUrl) };
};
