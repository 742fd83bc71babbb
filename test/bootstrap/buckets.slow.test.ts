import { readFile } from "node:fs/promises";
import sharp from "sharp";
import { Agent, fetch } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeGcs } from "../support/fake-gcs.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import { S3Server } from "../support/s3-server.js";
import type { Installation } from "../support/service-process.js";

const FOR_EVER = "public, max-age=31536000, immutable";

type Bucket = {
  readonly environment: Record<string, string>;
  /** Variables that make it unusable, each with the sentence of the start. */
  readonly unusable: readonly (readonly [Record<string, string>, RegExp])[];
  readonly publicUrl: string;
  /** What somebody without credentials gets at a URL. */
  readonly read: (url: string) => Promise<{ bytes: Buffer; type: unknown; cacheControl: unknown }>;
  readonly close: () => Promise<void>;
};

const s3 = async (): Promise<Bucket> => {
  const server = await S3Server.start({ tls: true });
  const ca = await readFile(server.certificateFile ?? "");
  const bucket = await server.createBucket({ ca });
  const publicUrl = `${server.endpoint}/${bucket}`;
  const dispatcher = new Agent({ connect: { ca } });
  return {
    environment: {
      STORAGE: "s3",
      S3_BUCKET: bucket,
      S3_ENDPOINT: server.endpoint,
      S3_PUBLIC_URL: publicUrl,
      AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
      NODE_EXTRA_CA_CERTS: server.certificateFile ?? "",
    },
    unusable: [
      [{ S3_BUCKET: "no-such-bucket" }, /The bucket no-such-bucket is not usable: S3 answered 404 \(NoSuchBucket\)/],
      [
        { AWS_ACCESS_KEY_ID: "AKIAUNKNOWN" },
        /The bucket panorama-test-[\w-]+ is not usable: S3 answered 403 \(InvalidAccessKeyId\)/,
      ],
    ],
    publicUrl,
    read: async (url) => {
      const response = await fetch(url, { dispatcher });
      const bytes = Buffer.from(await response.arrayBuffer());
      const [type, cacheControl] = ["content-type", "cache-control"].map((name) => response.headers.get(name));
      return { bytes, type, cacheControl };
    },
    close: async () => {
      await dispatcher.close();
      await server.stop();
    },
  };
};

/** The URLs are those of a CDN, which the test does not have. */
const gcs = async (): Promise<Bucket> => {
  const server = await FakeGcs.start();
  const publicUrl = "https://cdn.example";
  return {
    environment: {
      STORAGE: "gcs",
      GCS_BUCKET: server.bucket,
      GCS_API_ENDPOINT: server.url,
      GCS_PUBLIC_URL: publicUrl,
    },
    unusable: [[{ GCS_BUCKET: "another-bucket" }, /The bucket another-bucket is not usable/]],
    publicUrl,
    read: async (url) => {
      const stored = server.objects.get(url.slice(publicUrl.length + 1));
      if (stored === undefined) throw new Error(`There is no object for ${url}.`);
      return { bytes: stored.bytes, type: stored.contentType, cacheControl: stored.cacheControl };
    },
    close: () => server.close(),
  };
};

describe.each([
  ["s3", s3],
  ["gcs", gcs],
])("the service with STORAGE=%s", (_, open) => {
  let bucket: Bucket;
  let installation: Installation;

  beforeAll(async () => {
    bucket = await open();
    installation = await migratedInstallation({ ...bucket.environment, LOCAL_PROVIDER_DELAY_MS: "0" });
  });
  afterAll(async () => {
    await installation.remove();
    await bucket.close();
  });

  it("does not start with an unusable bucket or access key, and names the fault", async () => {
    for (const [environment, sentence] of bucket.unusable) {
      await expect(installation.start(environment)).rejects.toThrow(sentence);
    }
  });

  it("stores reference images and panoramas in the bucket, under URLs that everybody can read", async () => {
    const { demo_api_key = "" } = await installation.start();
    const client = new RestClient(installation.url, demo_api_key);
    const pixels = { width: 8, height: 8, channels: 3, background: "#308030" } as const;
    const png = await sharp({ create: pixels }).png().toBuffer();
    const [reference = ""] = await client.upload([new Blob([new Uint8Array(png)], { type: "image/png" })]);
    expect(reference.replace(bucket.publicUrl, "")).toMatch(/^\/references\/[\w-]{22}\.png$/);
    expect((await bucket.read(reference)).bytes.equals(png)).toBe(true);

    const { id } = await client.create({ image_urls: [reference], resolution: "1k" });
    const { output } = await client.untilKept(id);
    expect(output?.storage_status).toBe("saved");
    const image = output?.image_url ?? "";
    expect(image.replace(bucket.publicUrl, "")).toMatch(/^\/panoramas\/[\w-]{22}\.jpg$/);
    const { bytes, ...headers } = await bucket.read(image);
    expect(headers).toEqual({ type: "image/jpeg", cacheControl: FOR_EVER });
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 1024, height: 512 });
  });
});
