import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Page } from "../web-page/page.js";

/** The folder with the built scripts and styles: next to this file, or in `dist` if this file is the source. */
export const BUNDLED_FILES_FOLDER = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/adapters/web/static/" : "./static/", import.meta.url),
);

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Scripts, styles and icons. Each URL contains a digest of the content, so browsers may cache it forever. */
export class StaticFiles {
  readonly pages: readonly Page[];
  private readonly urls: ReadonlyMap<string, string>;

  private constructor(pages: readonly Page[], urls: ReadonlyMap<string, string>) {
    this.pages = pages;
    this.urls = urls;
  }

  static async read(folder: string): Promise<StaticFiles> {
    const urls = new Map<string, string>();
    const pages: Page[] = [];
    for (const name of await readdir(folder)) {
      const contentType = CONTENT_TYPES[extname(name)];
      if (contentType === undefined) continue;
      const bytes = await readFile(join(folder, name));
      const url = `/static/${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}-${name}`;
      urls.set(name, url);
      pages.push(staticPage(url, bytes, contentType));
    }
    return new StaticFiles(pages, urls);
  }

  /** Throws if there is no built file of this name. */
  urlOf(name: string): string {
    const url = this.urls.get(name);
    if (url === undefined) throw new Error(`the file ${name} is not built: run npm run build`);
    return url;
  }
}

const staticPage = (path: string, bytes: Uint8Array, contentType: string): Page => {
  const headers = {
    "content-type": contentType,
    "cache-control": "public, max-age=31536000, immutable",
    "x-content-type-options": "nosniff",
    vary: "accept-encoding",
  };
  const zipped = gzipSync(bytes);
  return {
    method: "GET",
    path,
    body: "none",
    handle: async (request) =>
      request.headers["accept-encoding"]?.includes("gzip")
        ? { status: 200, headers: { ...headers, "content-encoding": "gzip" }, body: zipped }
        : { status: 200, headers, body: bytes },
  };
};
