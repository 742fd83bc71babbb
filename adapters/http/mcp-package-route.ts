import { createHash } from "node:crypto";
import type { Handler } from "./listener.js";

/** The packed MCP server. `path` contains its version. */
export type McpPackage = { readonly path: string; readonly bytes: Uint8Array };

/** Serves the package, which never changes under its path. npx revalidates it at every start: it gets a 304. */
export const mcpPackageRoute = ({ bytes }: McpPackage): Handler => {
  const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  const headers = {
    "content-type": "application/gzip",
    "cache-control": "public, max-age=31536000, immutable",
    "x-content-type-options": "nosniff",
    etag,
  };
  return async (exchange) => ({
    status: exchange.header("if-none-match") === etag ? 304 : 200,
    headers,
    body: bytes,
  });
};
