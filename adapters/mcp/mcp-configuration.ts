import { MCP_VERSION } from "./mcp-version.js";

/** What stands in the place of the key until the person puts theirs there. */
const KEY_PLACEHOLDER = "sk-...";

/** Where the service serves the package: npx keeps what it got from a URL for good, so the version is part of it. */
export const MCP_PACKAGE_PATH = `/mcp/panorama-mcp-${MCP_VERSION}.tgz`;

/** What a person pastes into their MCP client, by kind of client. */
export type McpConfigurations = {
  /** `mcpServers`, which most clients read. */
  readonly npx: string;
  /** The same on Windows. */
  readonly npxOnWindows: string;
  readonly vsCode: string;
  /** A command line. */
  readonly claudeCode: string;
};

/** `origin`: the service's public one, without a slash at the end. */
export const mcpConfigurations = (origin: string): McpConfigurations => {
  const url = `${origin}${MCP_PACKAGE_PATH}`;
  const entry = { command: "npx", args: ["-y", url], env: { PANORAMA_API_KEY: KEY_PLACEHOLDER } };
  const json = (value: object) => JSON.stringify(value, undefined, 2);
  return {
    npx: json({ mcpServers: { panorama: entry } }),
    npxOnWindows: json({ mcpServers: { panorama: { ...entry, command: "npx.cmd" } } }),
    vsCode: json({ servers: { panorama: { type: "stdio", ...entry } } }),
    claudeCode: `claude mcp add panorama --env PANORAMA_API_KEY=${KEY_PLACEHOLDER} -- npx -y ${url}`,
  };
};
