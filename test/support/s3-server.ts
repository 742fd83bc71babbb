import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { AgentOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import S3rver from "s3rver";
import { tlsCertificate } from "../../adapters/http/servers/tls-certificate.js";
import type { S3Credentials } from "../../adapters/storage/s3-object-storage.js";

/**
 * A real S3-compatible server: s3rver in this process, with https and its own certificate for localhost, or the one
 * whose URL is in `TEST_S3_URL`, such as http://ACCESS_KEY:SECRET_KEY@127.0.0.1:9000 of MinIO.
 */
export class S3Server {
  readonly endpoint: string;
  readonly region = "us-east-1";
  readonly credentials: S3Credentials;
  /** Of s3rver. */
  readonly certificateFile: string | undefined;
  private readonly close: () => Promise<void>;

  private constructor(
    endpoint: string,
    credentials: S3Credentials,
    certificateFile: string | undefined,
    close: () => Promise<void>,
  ) {
    this.endpoint = endpoint;
    this.credentials = credentials;
    this.certificateFile = certificateFile;
    this.close = close;
  }

  static async start({ tls = false } = {}): Promise<S3Server> {
    if (process.env.TEST_S3_URL !== undefined && !tls) {
      const { origin, username, password } = new URL(process.env.TEST_S3_URL);
      const credentials = { accessKeyId: username, secretAccessKey: decodeURIComponent(password) };
      return new S3Server(origin, credentials, undefined, async () => {});
    }
    const folder = await mkdtemp(join(tmpdir(), "panorama-test-s3-"));
    const certificate = tls ? await tlsCertificate(folder, "localhost", new Date()) : undefined;
    const server = new S3rver({
      ...{ address: "127.0.0.1", port: 0, directory: join(folder, "objects"), silent: true, vhostBuckets: false },
      ...(certificate !== undefined && {
        key: await readFile(certificate.keyFile),
        cert: await readFile(certificate.certificateFile),
      }),
    });
    const { port } = await server.run();
    const endpoint = `${tls ? "https" : "http"}://localhost:${port}`;
    const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
    return new S3Server(endpoint, credentials, certificate?.certificateFile, async () => {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    });
  }

  /** Creates an empty bucket of an unused name. `httpsAgent`: such as the certificates that it accepts. */
  async createBucket(httpsAgent: AgentOptions = {}): Promise<string> {
    const { endpoint, region, credentials } = this;
    const client = new S3Client({
      ...{ endpoint, region, credentials, forcePathStyle: true },
      requestHandler: { httpsAgent },
    });
    const bucket = `panorama-test-${randomUUID()}`;
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
    return bucket;
  }

  async stop(): Promise<void> {
    await this.close();
  }
}
