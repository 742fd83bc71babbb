import { MCP_VERSION } from "./mcp-version.js";

/** What stands in the place of the key until the person puts theirs there. */
const KEY_PLACEHOLDER = "sk-...";

/** Where the service serves the package: npx keeps what it got from a URL for good, so the version is part of it. */
export const MCP_PACKAGE_PATH = `/mcp/panorama-mcp-${MCP_VERSION}.tgz`;

/** One entry of `mcpServers`. */
export const serverEntry = (origin: string, command: "npx" | "npx.cmd") => ({
  command,
  args: ["-y", `${origin}${MCP_PACKAGE_PATH}`],
  env: { PANORAMA_API_KEY: KEY_PLACEHOLDER },
});

/** The `mcpServers` configuration that most MCP clients read. */
export const mcpServersJson = (origin: string, command: "npx" | "npx.cmd"): string =>
  JSON.stringify({ mcpServers: { panorama: serverEntry(origin, command) } }, undefined, 2);
