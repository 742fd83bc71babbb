import { readdir } from "node:fs/promises";
import sharp from "sharp";
import { Agent, fetch as fetchWith } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RawConnection } from "../support/raw-connection.js";
import { RestClient } from "../support/rest-client.js";
import { Installation } from "../support/service-process.js";

describe("the service without any configuration", () => {
  let installation: Installation;
  let client: RestClient;

  beforeAll(async () => {
    installation = await Installation.create({ LOCAL_PROVIDER_DELAY_MS: "100" });
    const ready = await installation.start();
    expect(ready).toEqual({
      url: installation.url,
      demo_api_key: expect.stringMatching(/^sk-[\w-]{43}$/),
      demo_email: "demo@example.com",
      demo_password: expect.stringMatching(/^[\w-]{22}$/),
    });
    client = new RestClient(installation.url, ready.demo_api_key ?? "");
  });

  afterAll(() => installation.remove());

  it.each([
    ["1k", 1024, 512, 4],
    ["2k", 2048, 1024, 6],
    ["4k", 3840, 1920, 10],
  ])(
    "makes a %s panorama of %i × %i pixels with 360° metadata for %i credits",
    async (resolution, width, height, cost) => {
      const before = await client.credits();
      const created = await client.create({ prompt: "a quiet ocean in the fog", resolution });
      expect(created).toEqual({
        id: expect.any(String),
        status: "processing",
        credits_charged: cost,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        resolution,
        visibility: "private",
        prompt: "a quiet ocean in the fog",
        image_urls: [],
        metadata: {},
      });

      const task = await client.untilKept(created.id);
      const viewerUrl = `${installation.url}/works/${task.output?.slug}`;
      const painted = { native_width: width, native_height: height };
      expect(task.output).toMatchObject({ storage_status: "saved", viewer_url: viewerUrl, ...painted });

      const response = await fetch(task.output?.image_url ?? "");
      expect(response.headers.get("content-type")).toBe("image/jpeg");
      const image = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
      expect(image).toMatchObject({ format: "jpeg", width, height });
      const photoSphere = image.xmpAsString ?? "";
      for (const property of ["FullPanoWidthPixels", "CroppedAreaImageWidthPixels"]) {
        expect(photoSphere).toContain(`GPano:${property}="${width}"`);
      }
      expect(photoSphere).toContain('GPano:ProjectionType="equirectangular"');
      expect(photoSphere).toContain('digitalsourcetype/algorithmicMedia"'); // painted by rules, not by a trained model
      expect(await client.credits()).toBe(before - cost);
    },
  );

  it("accepts a header block of 16 kB, also if it arrives in two packets", async () => {
    const connection = await RawConnection.open(Number(new URL(installation.url).port));
    connection.send(`GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${"v".repeat(8_000)}`);
    expect((await fetch(`${installation.url}/healthz`)).status).toBe(200); // the first packet is read now
    connection.send(`${"v".repeat(8_000)}\r\n\r\n`);
    expect(await connection.response()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    connection.close();
  });

  it("serves an uploaded image unchanged and uses it as a reference", async () => {
    const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#c03020" } })
      .png()
      .toBuffer();
    const [url = ""] = await client.upload([new Blob([new Uint8Array(png)], { type: "image/png" })]);
    expect(url).toMatch(new RegExp(`^https://localhost:${installation.tlsPort}/assets/references/[\\w-]{22}\\.png$`));
    const trusting = new Agent({ connect: { rejectUnauthorized: false } });
    const opened = await fetchWith(url, { dispatcher: trusting });
    expect(Buffer.from(await opened.arrayBuffer()).equals(png)).toBe(true);
    await trusting.close();

    const { id } = await client.create({ image_urls: [url], resolution: "1k" });
    const task = await client.untilKept(id);
    expect(task.output?.storage_status).toBe("saved");
    const image = Buffer.from(await (await fetch(task.output?.image_url ?? "")).arrayBuffer());
    const middle = await sharp(image).extract({ left: 507, top: 251, width: 10, height: 10 }).raw().toBuffer();
    const [red = 0, green = 0] = middle;
    expect(red).toBeGreaterThan(green + 60);
  });

  it("passes panorama ledger verify", async () => {
    const { json, status } = await installation.answer("ledger", "verify");
    expect(json).toEqual({ accounts: 1, findings: [] });
    expect(status).toBe(0);
  });

  it("finishes requests in flight on SIGTERM, exits with 0, and continues its tasks after a restart", async () => {
    const { client } = await installation.customer("patient@example.com"); // with rate limits of its own
    const waiting = await client.create({ prompt: "a foggy ocean", resolution: "2k" });
    const creations = [1, 2].map((n) => client.create({ prompt: `a foggy ocean ${n} test:plain`, resolution: "1k" }));
    const answered = Promise.all(creations);
    await new Promise((resolve) => setImmediate(resolve));
    const [created, exit] = [await answered, await installation.end("SIGTERM")];
    expect(exit).toBe(0);
    expect(installation.log.trimEnd()).toMatch(/"msg":"stopped"\}$/);

    const again = { url: installation.url, demo_account_id: expect.stringMatching(/^acc_/) };
    expect(await installation.start()).toEqual(again);
    for (const { id } of [waiting, ...created]) {
      expect((await client.untilKept(id)).output?.storage_status).toBe("saved");
    }
    expect(await readdir(`${installation.dataDir}/uploads`)).toEqual([]);
  });

  it("writes neither keys nor prompts to the log", () => {
    expect(installation.log).toContain("POST");
    expect(installation.log).not.toContain("sk-");
    expect(installation.log).not.toContain("quiet ocean");
  });
});
