import { createHash } from "node:crypto";
import type { Handler } from "./listener.js";

/** The packed MCP server, under a path that has its version. */
export type McpPackage = { readonly path: string; readonly bytes: Uint8Array };

/** The package never changes under its path. npx asks again at every start all the same: it gets a short answer. */
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
