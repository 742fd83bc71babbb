import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "../../../../adapters/web-page/page.js";
import { HttpService, NO_PAGES } from "../../../support/http-service.js";

const LONG = "a page with “text”, ".repeat(200);

const page = (path: string, body: string, compressible: boolean): Page => ({
  method: "GET",
  path,
  body: "none",
  handle: async () => ({ status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body, compressible }),
});

describe("compressed answers", () => {
  let service: HttpService;

  beforeAll(async () => {
    const pages = [page("/long", LONG, true), page("/short", "short", true), page("/secret", LONG, false)];
    service = await HttpService.start({ web: { ...NO_PAGES, pages } });
  });
  afterAll(() => service.end());

  /** As sent: `fetch` would decompress. */
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; body: Buffer }>(
      (resolve, reject) =>
        request(service.url + path, { method, headers, agent: false }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () =>
            resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
          );
        })
          .once("error", reject)
          .end(),
    );

  const DECODE = { br: brotliDecompressSync, gzip: gunzipSync };

  it.each([
    ["gzip, deflate, br, zstd", "br"],
    ["gzip", "gzip"],
    ["br;q=0, gzip", "gzip"],
  ] as const)("pages are sent as Accept-Encoding: %s allows", async (acceptEncoding, coding) => {
    const { headers, body } = await get("/long", { "accept-encoding": acceptEncoding });
    expect(headers).toMatchObject({ "content-encoding": coding, vary: "accept-encoding" });
    expect(headers["content-length"]).toBe(String(body.length));
    expect(body.length).toBeLessThan(LONG.length / 10);
    expect(DECODE[coding](body).toString()).toBe(LONG);
    const head = await get("/long", { "accept-encoding": acceptEncoding }, "HEAD");
    expect(head.headers["content-length"]).toBe(String(body.length));
    expect(head.body.length).toBe(0);
  });

  it("pages are sent as they are to clients without compression, and still vary", async () => {
    for (const headers of [{}, { "accept-encoding": "identity" }, { "accept-encoding": "br;q=0" }]) {
      const { headers: answered, body } = await get("/long", headers as Record<string, string>);
      expect([answered["content-encoding"], answered.vary, body.toString()]).toEqual([
        undefined,
        "accept-encoding",
        LONG,
      ]);
    }
  });

  it.each([
    ["/short", "short"],
    ["/secret", LONG],
  ])("%s is not compressed", async (path, text) => {
    const { headers, body } = await get(path, { "accept-encoding": "br, gzip" });
    expect([headers["content-encoding"], body.toString()]).toEqual([undefined, text]);
  });

  it("the OpenAPI description is compressed, and is not sent again to clients that have it", async () => {
    const plain = await get("/api/v1/openapi.json");
    expect(plain.headers["cache-control"]).toBe("no-cache");
    const etags = new Set([plain.headers.etag]);
    for (const coding of ["br", "gzip"] as const) {
      const { headers, body } = await get("/api/v1/openapi.json", { "accept-encoding": coding });
      expect(headers).toMatchObject({ "content-encoding": coding, vary: "accept-encoding" });
      expect(DECODE[coding](body).equals(plain.body)).toBe(true);
      expect(body.length).toBeLessThan(plain.body.length / 3);
      etags.add(headers.etag);
      const known = { "accept-encoding": coding, "if-none-match": String(headers.etag) };
      const again = await get("/api/v1/openapi.json", known);
      expect([again.status, again.body.length]).toEqual([304, 0]);
    }
    expect(etags.size).toBe(3);
    const other = await get("/api/v1/openapi.json", { "if-none-match": '"another"' });
    expect([other.status, JSON.parse(other.body.toString()).openapi]).toEqual([200, "3.1.1"]);
  });
});
