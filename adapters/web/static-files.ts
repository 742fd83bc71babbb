import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { FOR_ANY_ORIGIN } from "../web-page/any-origin.js";
import { acceptsCoding, isCached } from "../web-page/cache-headers.js";
import type { Page } from "../web-page/page.js";

/** The folder with the built scripts and styles: next to this file, or in `dist` if this file is the source. */
export const BUNDLED_FILES_FOLDER = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/adapters/web/static/" : "./static/", import.meta.url),
);

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/** The compressed forms that a file may have, smallest first: the content coding, and what it adds to the file name. */
const COMPRESSED = [
  { coding: "br", suffix: ".br" },
  { coding: "gzip", suffix: ".gz" },
] as const;

/**
 * Of every file below `/static`. Scripts and fonts need CORS in frames that a page has sandboxed: their origin is
 * `null`, so that even this one is another.
 */
export const STATIC_HEADERS = {
  "cache-control": "public, max-age=31536000, immutable",
  "x-content-type-options": "nosniff",
  ...FOR_ANY_ORIGIN,
} as const;

/** The name of a built file: a digest of its content, a hyphen and the name that pages use. */
const BUILT_NAME = /^([0-9a-f]{12})-(.+\.\w+)$/;

/** Each page contains it (layout.ts). */
const INLINE_SCRIPT = "theme.js";

type Built = {
  readonly pages: readonly Page[];
  readonly urls: ReadonlyMap<string, string>;
  readonly texts: ReadonlyMap<string, string>;
};

/** Scripts, styles, fonts and images. Each URL contains a digest of the content, so browsers may cache it forever. */
export class StaticFiles {
  readonly pages: readonly Page[];
  private readonly urls: ReadonlyMap<string, string>;
  private readonly texts: ReadonlyMap<string, string>;

  private constructor({ pages, urls, texts }: Built) {
    this.pages = pages;
    this.urls = urls;
    this.texts = texts;
  }

  static async read(folder: string): Promise<StaticFiles> {
    const urls = new Map<string, string>();
    const texts = new Map<string, string>();
    const pages: Page[] = [];
    const present = new Set(await readdir(folder));
    for (const file of present) {
      const [, digest = "", name = ""] = BUILT_NAME.exec(file) ?? [];
      const contentType = CONTENT_TYPES[extname(name)];
      if (contentType === undefined) continue;
      const url = `/static/${file}`;
      urls.set(name, url);
      const forms = COMPRESSED.filter(({ suffix }) => present.has(file + suffix));
      pages.push(staticPage({ url, file: join(folder, file), digest, contentType, forms }));
      if (name.endsWith(".css") || name === INLINE_SCRIPT) texts.set(name, await readFile(join(folder, file), "utf8"));
    }
    return new StaticFiles({ pages, urls, texts });
  }

  /** Throws if there is no built file of this name. */
  urlOf(name: string): string {
    return this.urls.get(name) ?? notBuilt(name);
  }

  /** The text of a style, or of the script that pages contain. Throws if it is not built. */
  textOf(name: string): string {
    return this.texts.get(name) ?? notBuilt(name);
  }
}

function notBuilt(name: string): never {
  throw new Error(`the file ${name} is not built: run npm run build`);
}

type BuiltFile = {
  readonly url: string;
  /** The path of the file that is not compressed. */
  readonly file: string;
  readonly digest: string;
  readonly contentType: string;
  readonly forms: readonly (typeof COMPRESSED)[number][];
};

/** Each form of the file is read at its first request, and then kept in memory. */
function staticPage({ url, file, digest, contentType, forms }: BuiltFile): Page {
  const kept = new Map<string, Uint8Array>();
  const contentOf = async (suffix: string): Promise<Uint8Array> => {
    const content = kept.get(suffix) ?? (await readFile(file + suffix));
    kept.set(suffix, content);
    return content;
  };
  return {
    method: "GET",
    path: url,
    body: "none",
    handle: async ({ headers }) => {
      const compressed = forms.find(({ coding }) => acceptsCoding(headers["accept-encoding"], coding));
      const etag = `"${digest}${compressed?.suffix ?? ""}"`;
      return {
        status: isCached(headers["if-none-match"], etag) ? 304 : 200,
        headers: {
          ...STATIC_HEADERS,
          "content-type": contentType,
          vary: "accept-encoding",
          etag,
          ...(compressed && { "content-encoding": compressed.coding }),
        },
        body: await contentOf(compressed?.suffix ?? ""),
      };
    },
  };
}
