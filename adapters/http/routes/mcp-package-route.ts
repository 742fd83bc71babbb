import { createHash } from "node:crypto";
import type { Handler } from "../router.js";

/** The packed MCP server. `path` contains its version. `pack` returns the same bytes at every call. */
export type McpPackage = { readonly path: string; readonly pack: () => Promise<Uint8Array> };

/** Serves the package. Clients ask at every start whether it has changed, and get a 304. */
export function mcpPackageRoute({ pack }: McpPackage): Handler {
  let packed: Promise<{ readonly bytes: Uint8Array; readonly etag: string }> | undefined;
  return async (exchange) => {
    packed ??= withEtag(pack).catch((error: unknown) => {
      packed = undefined; // the next request tries again
      throw error;
    });
    const { bytes, etag } = await packed;
    const headers = {
      "content-type": "application/gzip",
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      etag,
    };
    return { status: exchange.header("if-none-match") === etag ? 304 : 200, headers, body: bytes };
  };
}

async function withEtag(pack: McpPackage["pack"]) {
  const bytes = await pack();
  return { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url")}"` };
}
