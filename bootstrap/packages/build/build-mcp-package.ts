import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { MCP_PACKAGE_PATH } from "../../../adapters/mcp/mcp-configuration.js";
import {
  ENTRY_FILE,
  LICENSES_FILE,
  packMcpServer,
  readMcpBundle,
  SERVER_FILE,
  SERVICE_FILE,
  serviceJson,
} from "../../../adapters/mcp/mcp-package.js";
import { licensesOf } from "./licenses-of.js";

/**
 * `tsx bootstrap/packages/build/build-mcp-package.ts [DIRECTORY]`, a step of `npm run build`: bundles the MCP server
 * into one file in dist/mcp, or in DIRECTORY, beside the one that starts it. The service packs both with its own
 * origin. This script also writes a package for a local service.
 */
const LOCAL_SERVICE = "http://localhost:8080";
const project = fileURLToPath(new URL("../../..", import.meta.url));
const target = process.argv[2] ?? join(project, "dist/mcp");

await mkdir(target, { recursive: true });
const common = { absWorkingDir: project, bundle: true, logLevel: "warning" } as const;
const { metafile } = await build({
  ...common,
  entryPoints: ["bootstrap/panorama-mcp.ts"],
  outfile: join(target, SERVER_FILE),
  alias: { "@modelcontextprotocol/server/_shims": "./bootstrap/packages/build/without-validator.ts" },
  platform: "node",
  target: "node20",
  format: "esm",
  minify: true,
  legalComments: "none",
  // undici asks for modules of Node.js with `require`.
  banner: { js: 'import { createRequire } from "node:module";const require = createRequire(import.meta.url);' },
  metafile: true,
});
// In the syntax of old versions of Node.js, and without imports: it runs as a script and as a module.
await build({
  ...common,
  entryPoints: ["bootstrap/mcp-entry.cts"],
  outfile: join(target, ENTRY_FILE),
  target: "es2015",
  supported: { "dynamic-import": true },
  format: "iife",
  banner: { js: "#!/usr/bin/env node" },
});
await writeFile(join(target, LICENSES_FILE), await licensesOf("panorama-mcp", Object.keys(metafile.inputs)));

const bundle = await readMcpBundle(target);
await writeFile(join(target, SERVICE_FILE), serviceJson(LOCAL_SERVICE));
await writeFile(join(target, basename(MCP_PACKAGE_PATH)), packMcpServer(bundle, LOCAL_SERVICE));
