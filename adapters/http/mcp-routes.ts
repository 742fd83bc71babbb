import { createHash } from "node:crypto";
import type { Handler } from "./listener.js";

/** The MCP server as people get it: a page that says how, and the package under a path that has its version. */
export type McpDownload = { readonly page: string; readonly packagePath: string; readonly package: Uint8Array };

/** `GET /mcp`. */
export const mcpPageRoute =
  ({ page }: McpDownload): Handler =>
  async () => ({
    status: 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    },
    body: page,
  });

/** The package never changes under its path. npx asks again at every start all the same: it gets a short answer. */
export const mcpPackageRoute = ({ package: bytes }: McpDownload): Handler => {
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
