import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { ObjectStorage, StorageUnavailable } from "../../application/ports/object-storage.js";
import type { ObjectName } from "../../domain/images/object-name.js";
import { InvalidAnswer, Retries } from "./retries.js";
import { RETRY_TIMES, type RetryTimes } from "./retry-times.js";
import {
  CHECKSUM,
  checksumOf,
  codeOf,
  fromS3,
  httpStatusOf,
  isNotImplemented,
  notFromS3,
  PART_BYTES,
  S3Upload,
  s3FailureOf,
} from "./s3-upload.js";
import { objectNameOf, objectNamesIn } from "./stored-object.js";

/** The bucket, and how it is called. URLs have no trailing slash. */
export type S3ObjectStorageOptions = {
  readonly bucket: string;
  /** The region of the bucket, such as `eu-central-1`. */
  readonly region: string;
  /** URL of another service than AWS, such as MinIO or Cloudflare R2, without the bucket. */
  readonly endpoint?: string | undefined;
  /** True if the path of a request names the bucket, not the host. By default `true` with an `endpoint`. */
  readonly pathStyle?: boolean | undefined;
  /**
   * Where clients read the bucket's objects, https; by default the URL of the bucket at AWS, or with an `endpoint` its
   * URL followed by the name of the bucket.
   */
  readonly publicUrl?: string | undefined;
  /** Default: the AWS client finds them in the environment, in its files, or on the machine or container. */
  readonly credentials?: S3Credentials | undefined;
  /** By default 10 s for an attempt, 30 s for all requests of a call, and a first pause of at most 0.5 s. */
  readonly retryTimes?: RetryTimes | undefined;
};

/** An access key that may read, write and list the bucket. */
export type S3Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only temporary credentials have one. */
  readonly sessionToken?: string;
};

/** Objects in a bucket of an S3-compatible service, which serves them. */
export interface S3ObjectStorage extends ObjectStorage {
  /**
   * Checks that objects can be read and written: one attempt without retries, for a start or a readiness probe. It
   * leaves the small object `probe/create-only` in the bucket.
   */
  check(): Promise<Result<void, StorageUnavailable>>;
}

/**
 * An object storage in a bucket of an S3-compatible service. Nothing is called before the first use: see `check`.
 *
 * Objects are created with `If-None-Match: *`. The first use finds out whether the service knows it. For a service that
 * does not, each write looks first whether the object exists, and reads it back.
 */
export const s3ObjectStorage = (options: S3ObjectStorageOptions): S3ObjectStorage => new ObjectsInS3Bucket(options);

const PROBE = "probe/create-only";
const PROBE_TEXT = "The panorama service finds out with this object whether it can write.\n";

/** Never exists. S3 answers 403 instead of 404 to a key that may not list the bucket. */
const MISSING = "probe/missing";

type StoredObject = { readonly bytes: Uint8Array; readonly checksum: string | undefined };

/**
 * AWS's own client, although it is large: smaller ones find no credentials of machines, containers and SSO, which
 * expire and must be renewed. This class retries, not that client, which does not repeat a download that was cut short.
 */
class ObjectsInS3Bucket implements S3ObjectStorage {
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly publicUrl: string;
  private readonly retries: Retries;
  /** True if the service refuses to overwrite an object with `If-None-Match: *`. Absent before the first use. */
  private knowsCondition: boolean | undefined;

  constructor({
    bucket,
    region,
    endpoint,
    pathStyle = endpoint !== undefined,
    publicUrl = endpoint === undefined ? awsUrlOf(bucket, region) : `${endpoint}/${bucket}`,
    credentials,
    retryTimes = RETRY_TIMES,
  }: S3ObjectStorageOptions) {
    this.client = new S3Client({
      region,
      forcePathStyle: pathStyle,
      ...(endpoint !== undefined && { endpoint }),
      ...(credentials !== undefined && { credentials }),
      maxAttempts: 1,
      // Uploads have `Content-MD5`, which every service checks. Some know no newer checksums, or refuse two.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      // The client closes every connection on which it has waited for `100 Continue`.
      expectContinueHeader: false,
    });
    this.bucket = bucket;
    this.publicUrl = publicUrl;
    this.retries = new Retries("S3", retryTimes, s3FailureOf);
  }

  put(name: ObjectName, bytes: Uint8Array, contentType: string): Promise<Result<void, StorageUnavailable>> {
    return this.retries.call(async (send) => {
      this.knowsCondition ??= await send((signal) => this.probe(signal));
      const isLarge = bytes.length > PART_BYTES;
      // Some services know the condition for an upload in one request only.
      if ((!this.knowsCondition || isLarge) && (await send((signal) => this.exists(name, signal)))) return;
      const upload = new S3Upload(
        this.client,
        this.bucket,
        { name, bytes, contentType },
        { retries: this.retries, send },
      );
      const isIntact = () => send((signal) => this.isIntact(name, bytes, signal));
      // Where damaged bytes were stored, this call has created the object, so it replaces them.
      for (const condition of [this.knowsCondition ? ("*" as const) : undefined, undefined, undefined]) {
        const outcome = isLarge ? await upload.inParts(condition) : await upload.inOneRequest(condition);
        if (outcome === "exists" || (outcome === "confirmed" && this.knowsCondition)) return;
        if (await isIntact()) return;
        // Not every service stores objects atomically: another writer may be at work.
        await this.retries.pause();
        if (await isIntact()) return;
      }
      throw new InvalidAnswer("S3 has stored other bytes than it was sent", false);
    });
  }

  async read(name: ObjectName): Promise<Result<Uint8Array, NotFound | StorageUnavailable>> {
    const found = await this.retries.call((send) =>
      send(async (signal) => {
        const stored = await this.download(name, signal);
        if (stored?.checksum !== undefined && stored.checksum !== checksumOf(stored.bytes)) {
          throw new InvalidAnswer("an object was damaged in transit", true);
        }
        return stored?.bytes;
      }),
    );
    return found.andThen((bytes) => (bytes === undefined ? err(notFound(`There is no object ${name}.`)) : ok(bytes)));
  }

  /**
   * S3 answers 204 also if there is no object; some services answer 404. Any other success may be a proxy's page: then
   * checks whether the object exists.
   */
  delete(name: ObjectName): Promise<Result<void, StorageUnavailable>> {
    return this.retries.call((send) =>
      send(async (abortSignal) => {
        try {
          const command = new DeleteObjectCommand({ Bucket: this.bucket, Key: name });
          const { $metadata } = await this.client.send(command, { abortSignal });
          if ($metadata.httpStatusCode !== 204 && (await this.exists(name, abortSignal))) throw notFromS3();
        } catch (error) {
          if (codeOf(error) !== "NoSuchKey") throw error;
        }
      }),
    );
  }

  has(name: ObjectName): Promise<Result<boolean, StorageUnavailable>> {
    return this.retries.call((send) => send((signal) => this.exists(name, signal)));
  }

  list(Prefix: string): Promise<Result<ObjectName[], StorageUnavailable>> {
    return this.retries.call(async (send) => {
      const found: ObjectName[] = [];
      for (let ContinuationToken: string | undefined, isFirst = true; isFirst || ContinuationToken; isFirst = false) {
        const command = new ListObjectsV2Command({ Bucket: this.bucket, Prefix, ContinuationToken });
        const page = await send((abortSignal) => this.client.send(command, { abortSignal }));
        if (page.IsTruncated === undefined) throw notFromS3();
        found.push(...objectNamesIn((page.Contents ?? []).map(({ Key = "" }) => Key)));
        ContinuationToken = page.NextContinuationToken;
      }
      return found;
    });
  }

  check(): Promise<Result<void, StorageUnavailable>> {
    return this.retries.once(async (signal) => {
      await this.download(MISSING, signal);
      this.knowsCondition = await this.probe(signal);
    });
  }

  urlOf(name: ObjectName): string {
    return `${this.publicUrl}/${name}`;
  }

  nameOf(url: string): ObjectName | undefined {
    return objectNameOf(url, (name) => this.urlOf(name));
  }

  /** Writes the same small object twice. It is never deleted, so that instances can do this at the same time. */
  private async probe(abortSignal: AbortSignal): Promise<boolean> {
    const write = async (IfNoneMatch?: "*") => {
      const command = new PutObjectCommand({ Bucket: this.bucket, Key: PROBE, Body: PROBE_TEXT, IfNoneMatch });
      fromS3(await this.client.send(command, { abortSignal }));
    };
    try {
      await write("*");
      await write("*");
      return false;
    } catch (error) {
      if (httpStatusOf(error) === 412) return true;
      if (!isNotImplemented(error)) throw error;
      await write();
      return false;
    }
  }

  private async exists(name: ObjectName, abortSignal: AbortSignal): Promise<boolean> {
    try {
      fromS3(await this.client.send(new HeadObjectCommand({ Bucket: this.bucket, Key: name }), { abortSignal }));
      return true;
    } catch (error) {
      if (httpStatusOf(error) === 404) return false;
      throw error;
    }
  }

  /** Returns `undefined` if the object does not exist. */
  private async download(name: string, abortSignal: AbortSignal): Promise<StoredObject | undefined> {
    try {
      const command = new GetObjectCommand({ Bucket: this.bucket, Key: name });
      const { Body, Metadata } = fromS3(await this.client.send(command, { abortSignal }));
      const bytes = await buffer(Body as Readable);
      return { bytes, checksum: Metadata?.[CHECKSUM] };
    } catch (error) {
      if (codeOf(error) === "NoSuchKey") return undefined;
      throw error;
    }
  }

  /** True if the object has the bytes of its writer, who may be another one than the writer of `bytes`. */
  private async isIntact(name: ObjectName, bytes: Uint8Array, signal: AbortSignal): Promise<boolean> {
    const stored = await this.download(name, signal);
    return stored !== undefined && checksumOf(stored.bytes) === (stored.checksum ?? checksumOf(bytes));
  }
}

/** The bucket's own URL at AWS. A name with dots in it has no certificate as a host. */
const awsUrlOf = (bucket: string, region: string): string => {
  const host = `s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
  return bucket.includes(".") ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
};
