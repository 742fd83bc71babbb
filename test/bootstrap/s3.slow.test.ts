import { readFile } from "node:fs/promises";
import { type AgentOptions, request } from "node:https";
import { buffer } from "node:stream/consumers";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { RestClient } from "../support/rest-client.js";
import { S3Server } from "../support/s3-server.js";
import type { Installation } from "../support/service-process.js";

describe("the service with STORAGE=s3", () => {
  let server: S3Server;
  let installation: Installation;
  let publicUrl: string;
  let tls: AgentOptions;

  beforeAll(async () => {
    server = await S3Server.start({ tls: true });
    const certificate = server.certificateFile ?? "";
    tls = { ca: await readFile(certificate) };
    const bucket = await server.createBucket(tls);
    publicUrl = `${server.endpoint}/${bucket}`;
    installation = await migratedInstallation({
      STORAGE: "s3",
      S3_BUCKET: bucket,
      S3_ENDPOINT: server.endpoint,
      S3_PUBLIC_URL: publicUrl,
      AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
      NODE_EXTRA_CA_CERTS: certificate,
      LOCAL_PROVIDER_DELAY_MS: "0",
    });
  });
  afterAll(async () => {
    await installation.remove();
    await server.stop();
  });

  it("does not start with an unusable bucket or access key, and names the fault", async () => {
    await expect(installation.start({ S3_BUCKET: "no-such-bucket" })).rejects.toThrow(
      "The bucket no-such-bucket is not usable: S3 answered 404 (NoSuchBucket)",
    );
    await expect(installation.start({ AWS_ACCESS_KEY_ID: "AKIAUNKNOWN" })).rejects.toThrow(
      /The bucket panorama-test-[\w-]+ is not usable: S3 answered 403 \(InvalidAccessKeyId\)/,
    );
  });

  it("stores reference images and panoramas in the bucket, where everybody can fetch them", async () => {
    const { demo_api_key = "" } = await installation.start();
    const client = new RestClient(installation.url, demo_api_key);
    const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#308030" } })
      .png()
      .toBuffer();
    const [reference = ""] = await client.upload([new Blob([new Uint8Array(png)], { type: "image/png" })]);
    expect(reference.slice(0, publicUrl.length)).toBe(publicUrl);
    expect((await fetched(reference, tls)).bytes.equals(png)).toBe(true);

    const { id } = await client.create({ image_urls: [reference], resolution: "1k" });
    const { output } = await client.untilKept(id);
    expect(output?.storage_status).toBe("saved");
    const { bytes, headers } = await fetched(output?.image_url ?? "", tls);
    expect(headers).toMatchObject({
      "content-type": "image/jpeg",
      "cache-control": "public, max-age=31536000, immutable",
    });
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 1024, height: 512 });
  });
});

/** What a client without credentials gets at a URL. */
const fetched = (url: string, { ca }: AgentOptions) =>
  new Promise<{ bytes: Buffer; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    const sent = request(url, { ca }, async (response) => {
      resolve({ bytes: await buffer(response), headers: response.headers });
    });
    sent.once("error", reject).end();
  });
