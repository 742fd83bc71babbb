/** The release of the MCP server and its package (specification, Versioning). */
export const MCP_VERSION = "0.1.0";

const KEY_PLACEHOLDER = "sk-...";

/** Path of the package at the service. npx caches a URL forever, so the version is part of the path. */
export const MCP_PACKAGE_PATH = `/mcp/panorama-mcp-${MCP_VERSION}.tgz`;

/** The text to paste into the configuration of an MCP client, by kind of client. */
export type McpConfigurations = {
  /** JSON with `mcpServers`: the form that most clients read. */
  readonly npx: string;
  /** Command on Windows. */
  readonly npxOnWindows: string;
  readonly vsCode: string;
  /** A shell command. */
  readonly claudeCode: string;
  /** What the person replaces by a key. */
  readonly keyPlaceholder: string;
};

/** @param origin the public origin of the service, without a trailing slash */
export function mcpConfigurations(origin: string): McpConfigurations {
  const url = `${origin}${MCP_PACKAGE_PATH}`;
  const entry = { command: "npx", args: ["-y", url], env: { PANORAMA_API_KEY: KEY_PLACEHOLDER } };
  const json = (value: object) => JSON.stringify(value, undefined, 2);
  return {
    npx: json({ mcpServers: { panorama: entry } }),
    npxOnWindows: json({ mcpServers: { panorama: { ...entry, command: "npx.cmd" } } }),
    vsCode: json({ servers: { panorama: { type: "stdio", ...entry } } }),
    keyPlaceholder: KEY_PLACEHOLDER,
    claudeCode: `claude mcp add panorama --env PANORAMA_API_KEY=${KEY_PLACEHOLDER} -- npx -y ${url}`,
  };
}
