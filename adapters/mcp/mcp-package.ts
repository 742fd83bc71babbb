import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
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
  const archive = ustar([
    { path: "package/package.json", bytes: text(`${JSON.stringify(manifest, undefined, 2)}\n`) },
    { path: "package/README.md", bytes: text(readme(origin)) },
    { path: `package/${LICENSES_FILE}`, bytes: licenses },
    { path: `package/${SERVICE_FILE}`, bytes: text(serviceJson(origin)) },
    { path: `package/${SERVER_FILE}`, bytes: code },
    { path: `package/${ENTRY_FILE}`, bytes: entry, executable: true },
  ]);
  const packed = gzipSync(archive, { level: 9 });
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

type TarFile = { readonly path: string; readonly bytes: Uint8Array; readonly executable?: boolean };

const BLOCK_BYTES = 512;
const PATH_BYTES_MAX = 100;

/**
 * An uncompressed tar archive (POSIX ustar) of files with ASCII paths of at most 100 bytes. Times and owners are fixed,
 * so the same files always give the same bytes.
 */
const ustar = (files: readonly TarFile[]): Uint8Array =>
  Buffer.concat([
    ...files.flatMap((file) => [header(file), file.bytes, padding(file.bytes.length)]),
    Buffer.alloc(2 * BLOCK_BYTES),
  ]);

/** The time that `npm pack` writes. Some unpackers report 1970 as an error. */
const MODIFIED_SECONDS = Date.parse("1985-10-26T08:15:00Z") / 1000;

function header({ path, bytes, executable = false }: TarFile): Uint8Array {
  if (path.length > PATH_BYTES_MAX || !/^[\x21-\x7e]+$/.test(path)) throw new Error(`not a path for ustar: ${path}`);
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  block.write(path, 0);
  block.write(octal(executable ? 0o755 : 0o644, 7), 100);
  block.write(octal(0, 7), 108); // user
  block.write(octal(0, 7), 116); // group
  block.write(octal(bytes.length, 11), 124);
  block.write(octal(MODIFIED_SECONDS, 11), 136);
  block.write(" ".repeat(8), 148); // while it is computed, the checksum field is blank
  block.write("0", 156); // a regular file
  block.write("ustar\x0000", 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)} `, 148);
  return block;
}

const padding = (bytes: number): Uint8Array => Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES);
