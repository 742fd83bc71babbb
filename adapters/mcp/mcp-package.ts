import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { TAR_END, tarEntries } from "../system/tar-archive.js";
import { MCP_VERSION, mcpConfigurations } from "./mcp-configuration.js";

/** The built MCP server: the file that starts it, also with an old Node.js, the server, and licences of packages. */
export type McpBundle = { readonly entry: Uint8Array; readonly code: Uint8Array; readonly licenses: Uint8Array };

export const ENTRY_FILE = "panorama-mcp.js";
export const SERVER_FILE = "mcp-server.js";
export const LICENSES_FILE = "LICENSES.txt";
/** In the same folder as the bundle: the service it was downloaded from, which is the default of PANORAMA_BASE_URL. */
export const SERVICE_FILE = "service.json";

export const serviceJson = (origin: string): string => `${JSON.stringify({ base_url: `${origin}/api/v1` })}\n`;

/** Throws if the bundle is not built. `directory` is `dist/mcp`. */
export const readMcpBundle = async (directory: string): Promise<McpBundle> => ({
  entry: await readFile(join(directory, ENTRY_FILE)),
  code: await readFile(join(directory, SERVER_FILE)),
  licenses: await readFile(join(directory, LICENSES_FILE)),
});

/**
 * The npm package as a tarball for `npx -y {origin}/mcp/panorama-mcp-0.1.0.tgz`. It contains the origin that serves it,
 * so that only the API key has to be configured. The same bundle and origin give the same bytes on every instance.
 */
export function packMcpServer({ entry, code, licenses }: McpBundle, origin: string): Uint8Array {
  const text = (content: string) => Buffer.from(content);
  const files = tarEntries([
    { path: "package/package.json", bytes: text(`${JSON.stringify(manifest, undefined, 2)}\n`) },
    { path: "package/README.md", bytes: text(readme(origin)) },
    { path: `package/${LICENSES_FILE}`, bytes: licenses },
    { path: `package/${SERVICE_FILE}`, bytes: text(serviceJson(origin)) },
    { path: `package/${SERVER_FILE}`, bytes: code },
    { path: `package/${ENTRY_FILE}`, bytes: entry, executable: true },
  ]);
  const packed = gzipSync(Buffer.concat([files, TAR_END]), { level: 9 });
  packed[OPERATING_SYSTEM_OFFSET] = UNKNOWN_OPERATING_SYSTEM;
  return packed;
}

/** gzip records the operating system (RFC 1952). A fixed value makes the bytes the same on every machine. */
const OPERATING_SYSTEM_OFFSET = 9;
const UNKNOWN_OPERATING_SYSTEM = 255;

const manifest = {
  name: "panorama-mcp",
  version: MCP_VERSION,
  description: "Local MCP server (stdio) that generates 360° panoramas",
  license: "MIT",
  type: "module",
  bin: { "panorama-mcp": ENTRY_FILE },
  engines: { node: ">=20" },
};

const readme = (origin: string): string => `# panorama-mcp

A local MCP server (stdio) that generates 360° panoramas with the service at ${origin}.
Put this into the configuration of an MCP client, with your own API key:

\`\`\`json
${mcpConfigurations(origin).npx}
\`\`\`

On Windows the command may have to be \`npx.cmd\`. More information: ${origin}/mcp.
`;
