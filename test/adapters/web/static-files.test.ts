import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { StaticFiles } from "../../../adapters/web/static-files.js";
import type { PageReply } from "../../../adapters/web-page/page.js";
import { builtClient } from "../../support/built-client.js";

/** The most bytes of each file, compressed with brotli unless it is compressed already. */
const BUDGET_BYTES: Readonly<Record<string, number>> = {
  "style.css": 4_000,
  "landing.css": 1_700,
  "gallery.css": 950,
  "hero.js": 1_900,
  "hero.jpg": 200_000,
  "hero-small.webp": 12_000,
  "works.css": 1_200,
  "account.css": 1_000,
  "display.woff2": 15_000,
  "display-more.woff2": 8_000,
  "icon.svg": 250,
  "favicon.png": 1_500,
  "touch-icon.png": 5_500,
  "gallery.js": 600,
  "works.js": 4_650,
  "account.js": 480,
  "viewer.js": 6_600,
  "sphere.js": 160_000,
  "waiting.js": 2_400,
  "viewer.css": 2_400,
  "docs.js": 2_000,
  "docs.css": 1_200,
  "theme.js": 300,
  "icon-512.png": 4_000,
};

describe("the built scripts and styles", () => {
  let files: StaticFiles;
  beforeAll(async () => {
    files = await StaticFiles.read(await builtClient());
  });

  const request = async (name: string, headers: Readonly<Record<string, string>> = {}): Promise<PageReply> => {
    const page = files.pages.find(({ path }) => path === files.urlOf(name));
    if (page === undefined) throw new Error(`${name} has no page`);
    return page.handle({
      url: page.path,
      params: {},
      query: new URLSearchParams(),
      headers,
      cookies: new Map(),
      remoteAddress: "127.0.0.1",
      identify: () => {},
      signal: new AbortController().signal,
      readBody: () => Promise.reject(new Error("not read")),
    });
  };
  const bytesOf = ({ body }: PageReply): Uint8Array => {
    if (!(body instanceof Uint8Array)) throw new Error("the body is not bytes");
    return body;
  };

  it.each(Object.entries(BUDGET_BYTES))("keep %s below %i bytes", async (name, budgetBytes) => {
    expect(bytesOf(await request(name, { "accept-encoding": "br" })).length).toBeLessThanOrEqual(budgetBytes);
  });

  it("stay within a size budget per file", () => {
    const names = files.pages.map(({ path }) => path.replace(/^\/static\/[0-9a-f]{12}-/, ""));
    expect(names.sort()).toEqual(Object.keys(BUDGET_BYTES).sort());
  });

  it.each([
    ["gzip, deflate, br, zstd", "br"],
    ["gzip", "gzip"],
    ["br;q=0, GZIP;q=0.5", "gzip"],
    ["gzip;q=0.000", undefined],
    ["identity", undefined],
    ["", undefined],
  ])("are compressed according to Accept-Encoding: %s", async (acceptEncoding, coding) => {
    const plain = bytesOf(await request("viewer.js"));
    const reply = await request("viewer.js", { "accept-encoding": acceptEncoding });
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({ vary: "accept-encoding", "content-type": "text/javascript; charset=utf-8" });
    expect(reply.headers["content-encoding"]).toBe(coding);
    const decode = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Uint8Array) => Buffer.from(bytes) };
    expect(decode[(coding ?? "identity") as keyof typeof decode](bytesOf(reply)).equals(plain)).toBe(true);
  });

  it("are sent unchanged if already compressed", async () => {
    const { status, headers } = await request("display.woff2", { "accept-encoding": "br" });
    expect([status, headers["content-type"], headers["content-encoding"]]).toEqual([200, "font/woff2", undefined]);
  });

  it("may be read by every page, also by a frame whose origin is null", async () => {
    for (const { path } of files.pages) {
      const { headers } = await request(path.replace(/^\/static\/[0-9a-f]{12}-/, ""));
      expect(headers).toMatchObject({
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
      });
    }
  });

  it("answer 304 only for the ETag of the same file in the same coding", async () => {
    const { etag = "" } = (await request("style.css", { "accept-encoding": "br" })).headers;
    const status = async (acceptEncoding: string, known: string) =>
      (await request("style.css", { "accept-encoding": acceptEncoding, "if-none-match": known })).status;
    expect(await status("br", etag)).toBe(304);
    expect(await status("br", `"another", W/${etag}`)).toBe(304);
    expect(await status("gzip", etag)).toBe(200);
    expect(await status("br", '"another"')).toBe(200);
  });
});
