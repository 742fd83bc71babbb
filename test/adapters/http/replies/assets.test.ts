import { mkdtemp, rm } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { ok } from "neverthrow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anImageName } from "../../../../adapters/contracts/support/builders.js";
import { tlsCertificate } from "../../../../adapters/http/servers/tls-certificate.js";
import { image } from "../../../../adapters/memory/memory-imaging.js";
import { MemoryObjectStorage } from "../../../../adapters/memory/memory-object-storage.js";
import { generationName, type ObjectName, referenceImageName } from "../../../../domain/images/object-name.js";
import { expectError } from "../../../support/error-answer.js";
import { assetsOf, HttpService } from "../../../support/http-service.js";
import { RawConnection } from "../../../support/raw-connection.js";

const MIB = 1024 * 1024;
const NAME = anImageName();
const BYTES = image("a panorama");

describe("GET /assets/{name}", () => {
  let service: HttpService;

  beforeAll(async () => {
    const storage = new MemoryObjectStorage();
    await storage.put(NAME, BYTES, "image/jpeg");
    await storage.put(generationName("g".repeat(22), "jpg"), BYTES, "image/jpeg");
    await storage.put(generationName("g".repeat(22), "json"), Buffer.from("{}"), "application/json");
    service = await HttpService.start({ assets: assetsOf(storage) });
  });
  afterAll(() => service.end());

  const get = (headers: Record<string, string> = {}, method = "GET", name: string = NAME) =>
    fetch(`${service.url}/assets/${name}`, { headers, method });

  it("answers with a fixed content type, cacheable forever, and readable by pages of any origin", async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array(BYTES));
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/jpeg",
      "content-length": String(BYTES.length),
      "x-content-type-options": "nosniff",
      "cache-control": "public, max-age=31536000, immutable",
      "access-control-allow-origin": "*",
      "cross-origin-resource-policy": "cross-origin",
      "accept-ranges": "bytes",
      etag: `"${NAME}"`,
    });
  });

  it("serves the picture of a generation, and not a failure", async () => {
    expect((await get({}, "GET", generationName("g".repeat(22), "jpg"))).status).toBe(200);
    const failure = await get({}, "GET", generationName("g".repeat(22), "json"));
    expect(failure.status).toBe(404);
    expect(await failure.json()).toMatchObject({ error: { code: "not_found" } });
  });

  it("answers HEAD with the same headers and no body", async () => {
    const [head, whole] = [await get({}, "HEAD"), await get()];
    expect(head.status).toBe(200);
    expect(head.headers.get("content-length")).toBe(String(BYTES.length));
    expect(head.headers.get("etag")).toBe(whole.headers.get("etag"));
    expect((await head.arrayBuffer()).byteLength).toBe(0);
  });

  it("answers 206 with the requested part of the image", async () => {
    const response = await get({ range: "bytes=2-4" });
    expect(response.status).toBe(206);
    const [, start = "", end = ""] = /^bytes (\d+)-(\d+)\/13$/.exec(response.headers.get("content-range") ?? "") ?? [];
    const part = BYTES.subarray(Number(start), Number(end) + 1);
    expect(Buffer.from(await response.arrayBuffer()).equals(part)).toBe(true);
  });

  it("answers 416 with the size of the image to a range outside of it", async () => {
    const response = await get({ range: "bytes=13-" });
    expect(response.headers.get("content-range")).toBe("bytes */13");
    expect(await expectError(response, 416, "invalid_request")).toContain("13 bytes");
  });

  it("ignores Range if If-Range names another version", async () => {
    expect((await get({ range: "bytes=1-2", "if-range": `"${NAME}"` })).status).toBe(206);
    expect((await get({ range: "bytes=1-2", "if-range": '"another"' })).status).toBe(200);
  });

  it.each([`"${NAME}"`, `W/"${NAME}"`, `"x", "${NAME}"`, "*"])("answers 304 for If-None-Match: %s", async (tag) => {
    const response = await get({ "if-none-match": tag });
    expect([response.status, await response.text()]).toEqual([304, ""]);
    expect(response.headers.get("content-length")).toBe("13");
    expect(response.headers.get("etag")).toBe(`"${NAME}"`);
  });

  it.each([
    "panoramas/unguessable-9999999999.jpg",
    "panoramas/..%2f..%2fservice.db",
    "panoramas/.env",
    "references/x.jpg",
    "incoming/x",
    "panoramas",
    "",
  ])("answers 404 for the name %j", async (name) => {
    await expectError(await get({}, "GET", name), 404, "not_found");
  });
});

describe("GET /assets/{name} of a large image", () => {
  const name = referenceImageName("a".repeat(22), "image/jpeg");
  const SIZE = 64 * MIB;

  /** Streams a generated image and counts the bytes that are read from it. */
  const countingAssets = () => {
    const counter = { bytesRead: 0, destroyed: false };
    const stream = () =>
      new Readable({
        highWaterMark: 64 * 1024,
        read() {
          const left = SIZE - counter.bytesRead;
          if (left === 0) return void this.push(null);
          const size = Math.min(64 * 1024, left);
          counter.bytesRead += size;
          this.push(Buffer.alloc(size, 7));
        },
        destroy(error, done) {
          counter.destroyed = true;
          done(error);
        },
      });
    const stat = async (_name: ObjectName) => ok({ sizeBytes: SIZE, contentType: "image/jpeg" });
    return { counter, assets: { stat, stream } };
  };

  it("sends the whole image", async () => {
    const { assets } = countingAssets();
    const service = await HttpService.start({ assets });
    const response = await fetch(`${service.url}/assets/${name}`);
    let bytes = 0;
    for await (const chunk of response.body!) bytes += chunk.length;
    expect(bytes).toBe(SIZE);
    await service.end();
  });

  it("reads no faster than a slow client receives, and stops when the client disconnects", async () => {
    const { assets, counter } = countingAssets();
    const service = await HttpService.start({ assets });
    const connection = await RawConnection.open(service.port);
    connection.send(`GET /assets/${name} HTTP/1.1\r\nhost: x\r\n\r\n`);
    connection.socket.pause();
    // The buffers of the kernel hold some megabytes. Then nothing more is read.
    for (let before = -1; counter.bytesRead === 0 || before !== counter.bytesRead; ) {
      before = counter.bytesRead;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(counter.bytesRead).toBeLessThan(SIZE / 2);
    connection.close();
    while (!counter.destroyed) await new Promise((resolve) => setImmediate(resolve));
    while (service.finished.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(service.finished).toMatchObject([{ route: "/assets/:folder/:file", aborted: true }]);
    await service.end();
  });

  const half = async function* (end: () => void) {
    yield Buffer.alloc(1000);
    end();
  };
  const failure = () => {
    throw new Error("disk gone");
  };

  it.each([
    ["reading fails", failure, "disk gone"],
    ["it is shorter than its declared size", () => {}, `ended after 1000 of ${SIZE} bytes`],
  ])("closes the connection if %s, so that no client accepts an incomplete image", async (_, end, logged) => {
    const failing = () => Readable.from(half(end));
    const service = await HttpService.start({ assets: { ...countingAssets().assets, stream: failing } });
    const whole = async () => (await fetch(`${service.url}/assets/${name}`)).arrayBuffer();
    await expect(whole()).rejects.toThrow(/fetch failed|terminated/);
    while (service.finished.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(String(service.failures[0]?.error)).toContain(logged);
    await service.end();
  });
});

describe("the TLS listener", () => {
  let service: HttpService;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-tls-"));
    const tls = { port: 0, ...(await tlsCertificate(folder, "localhost", new Date())) };
    const storage = new MemoryObjectStorage();
    await storage.put(NAME, BYTES, "image/jpeg");
    service = await HttpService.start({ assets: assetsOf(storage) }, { tls });
  });
  afterAll(async () => {
    await service.end();
    await rm(folder, { recursive: true });
  });

  const get = (path: string): Promise<{ status: number | undefined; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const request = { port: service.tlsPort, path, rejectUnauthorized: false, agent: false } as const;
      httpsRequest(request, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => resolve({ status: response.statusCode, body: Buffer.concat(chunks) }));
      })
        .once("error", reject)
        .end();
    });

  it("serves images", async () => {
    const { status, body } = await get(`/assets/${NAME}`);
    expect([status, body.equals(BYTES)]).toEqual([200, true]);
  });

  it.each(["/api/v1/credits", "/api/v1/openapi.json", "/metrics", "/healthz", "/"])(
    "does not serve %s",
    async (path) => {
      const { status, body } = await get(path);
      expect([status, JSON.parse(body.toString())]).toMatchObject([404, { error: { code: "not_found" } }]);
    },
  );
});

describe("GET /generations/{name}", () => {
  it("serves a temporary image of a provider in this process, and answers 404 after it is deleted", async () => {
    const service = await HttpService.start();
    service.temporaryImages.set("g-1.jpg", BYTES);
    const response = await fetch(`${service.url}/generations/g-1.jpg`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(Buffer.from(await response.arrayBuffer()).equals(BYTES)).toBe(true);
    await expectError(await fetch(`${service.url}/generations/g-2.jpg`), 404, "not_found");
    await expectError(await fetch(`${service.url}/generations/..%2fx`), 404, "not_found");
    await service.end();
  });
});
