import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeGcs } from "../support/fake-gcs.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import type { Installation } from "../support/service-process.js";

const CDN = "https://cdn.example";

describe("the service with STORAGE=gcs", () => {
  let gcs: FakeGcs;
  let installation: Installation;

  beforeAll(async () => {
    gcs = await FakeGcs.start();
    installation = await migratedInstallation({
      STORAGE: "gcs",
      GCS_BUCKET: gcs.bucket,
      GCS_API_ENDPOINT: gcs.url,
      GCS_PUBLIC_URL: CDN,
      LOCAL_PROVIDER_DELAY_MS: "0",
    });
  });
  afterAll(async () => {
    await installation.remove();
    await gcs.close();
  });

  it("does not start if the bucket does not exist, and names the bucket", async () => {
    await expect(installation.start({ GCS_BUCKET: "another-bucket" })).rejects.toThrow(
      /The bucket another-bucket is not usable/,
    );
  });

  it("stores reference images and panoramas in the bucket and gives them URLs of the CDN", async () => {
    const { demo_api_key = "" } = await installation.start();
    const client = new RestClient(installation.url, demo_api_key);
    const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#308030" } })
      .png()
      .toBuffer();
    const [reference = ""] = await client.upload([new Blob([new Uint8Array(png)], { type: "image/png" })]);
    expect(reference).toMatch(/^https:\/\/cdn\.example\/references\/[\w-]{22}\.png$/);

    const { id } = await client.create({ image_urls: [reference], resolution: "1k" });
    const { output } = await client.untilKept(id);
    expect(output?.storage_status).toBe("saved");
    expect(output?.image_url).toMatch(/^https:\/\/cdn\.example\/panoramas\/[\w-]{22}\.jpg$/);
    const stored = gcs.objects.get(output?.image_url.slice(CDN.length + 1) ?? "");
    expect(stored).toMatchObject({ contentType: "image/jpeg", cacheControl: "public, max-age=31536000, immutable" });
    expect(await sharp(stored?.bytes).metadata()).toMatchObject({ width: 1024, height: 512 });
  });
});
