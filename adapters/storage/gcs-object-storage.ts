import { createHash } from "node:crypto";
import { addAbortSignal } from "node:stream";
import { type Bucket, type File, type GetFilesOptions, Storage } from "@google-cloud/storage";
import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { ObjectStorage, StorageUnavailable } from "../../application/ports/object-storage.js";
import type { ObjectName } from "../../domain/images/object-name.js";
import { InvalidAnswer, type RequestFailure, Retries } from "./retries.js";
import { RETRY_TIMES, type RetryTimes } from "./retry-times.js";
import { CACHE_CONTROL, objectNameOf, objectNamesIn } from "./stored-object.js";

/** The bucket, and how it is called. */
export type GcsObjectStorageOptions = {
  readonly bucket: string;
  /** Base URL at which clients read the objects, without a trailing slash. Default: Google's URL of the bucket. */
  readonly publicUrl?: string | undefined;
  /** URL of an emulator. It is sent no credentials. */
  readonly apiEndpoint?: string | undefined;
  /** By default 10 s for an attempt, 30 s for all attempts, and a first pause of at most 0.5 s. */
  readonly retryTimes?: RetryTimes | undefined;
};

/** Objects in a bucket of Google Cloud Storage, which serves them. */
export interface GcsObjectStorage extends ObjectStorage {
  /** Checks that the bucket exists and is accessible: one attempt without retries, for a start or a readiness probe. */
  check(): Promise<Result<void, StorageUnavailable>>;
}

/**
 * An object storage in a bucket of Google Cloud Storage. Google's client reads the credentials from the environment
 * (`GOOGLE_APPLICATION_CREDENTIALS`, or those of the machine). Nothing is called before the first use: see `check`.
 */
export const gcsObjectStorage = (options: GcsObjectStorageOptions): GcsObjectStorage => new ObjectsInBucket(options);

/**
 * This class retries, not Google's client: the client can hang forever after its total timeout, and it neither detects
 * nor retries a truncated download.
 */
class ObjectsInBucket implements GcsObjectStorage {
  private readonly bucket: Bucket;
  private readonly publicUrl: string;
  private readonly retries: Retries;

  constructor({ bucket, publicUrl, apiEndpoint, retryTimes = RETRY_TIMES }: GcsObjectStorageOptions) {
    const storage = new Storage({
      ...(apiEndpoint !== undefined && { apiEndpoint }),
      timeout: retryTimes.attemptMilliseconds,
      retryOptions: { autoRetry: false },
    });
    this.bucket = storage.bucket(bucket);
    this.publicUrl = publicUrl ?? `https://storage.googleapis.com/${bucket}`;
    this.retries = new Retries("Cloud Storage", retryTimes, failureOf);
  }

  put(name: ObjectName, bytes: Uint8Array, contentType: string): Promise<Result<void, StorageUnavailable>> {
    return this.retries.call((send) => send(() => create(this.bucket.file(name), bytes, contentType)));
  }

  async read(name: ObjectName): Promise<Result<Uint8Array, NotFound | StorageUnavailable>> {
    const found = await this.retries.call((send) => send((signal) => download(this.bucket.file(name), signal)));
    return found.andThen((bytes) => (bytes === undefined ? err(notFound(`There is no object ${name}.`)) : ok(bytes)));
  }

  /** A 404 is success: the object did not exist, or an earlier attempt whose answer was lost has deleted it. */
  delete(name: ObjectName): Promise<Result<void, StorageUnavailable>> {
    return this.retries.call((send) =>
      send(async () => {
        const file = this.bucket.file(name);
        const [{ statusCode }] = await file.delete({ ignoreNotFound: true });
        // Any other success may be a proxy's page: then checks whether the object exists.
        if (statusCode < 300 && statusCode !== 204 && (await exists(file)))
          throw new InvalidAnswer("the answer to a deletion is not from Cloud Storage", true);
      }),
    );
  }

  has(name: ObjectName): Promise<Result<boolean, StorageUnavailable>> {
    return this.retries.call((send) => send(() => exists(this.bucket.file(name))));
  }

  list(prefix: string): Promise<Result<ObjectName[], StorageUnavailable>> {
    return this.retries.call(async (send) => {
      const found: ObjectName[] = [];
      for (let pageToken: string | undefined, isFirst = true; isFirst || pageToken !== undefined; isFirst = false) {
        const page = await send(() => list(this.bucket, { prefix, ...(pageToken !== undefined && { pageToken }) }));
        found.push(...page.names);
        pageToken = page.nextPageToken;
      }
      return found;
    });
  }

  check(): Promise<Result<void, StorageUnavailable>> {
    return this.retries.once(async () => void (await list(this.bucket, { maxResults: 1 })));
  }

  urlOf(name: ObjectName): string {
    return `${this.publicUrl}/${name}`;
  }

  nameOf(url: string): ObjectName | undefined {
    return objectNameOf(url, (name) => this.urlOf(name));
  }
}

/** Creates the object unless it exists: then Cloud Storage answers 412, because generation 0 means "no object yet". */
const create = async (file: File, bytes: Uint8Array, contentType: string): Promise<void> => {
  const md5Hash = md5(bytes);
  try {
    await file.save(bytes, {
      resumable: false,
      preconditionOpts: { ifGenerationMatch: 0 },
      // With `md5Hash`, Cloud Storage rejects bytes that were damaged in transit and creates no object.
      metadata: { contentType, cacheControl: CACHE_CONTROL, md5Hash },
      // With validation, the client would delete the object, even if another process wrote it, when a proxy answers.
      validation: false,
    });
  } catch (error) {
    if (codeOf(error) === 412) return;
    throw error;
  }
  // The client does not validate the answer: `metadata` can be any JSON, or not set.
  const stored = file.metadata?.md5Hash;
  if (stored === undefined) throw new InvalidAnswer("the answer to an upload is not from Cloud Storage", true);
  // Not temporary: a retry would find an object with this name and report success.
  if (stored !== md5Hash) throw new InvalidAnswer("Cloud Storage has stored other bytes than it was sent", false);
};

/** Returns `undefined` if the object does not exist. Throws if the bytes do not have the checksum sent with them. */
const download = async (file: File, signal: AbortSignal): Promise<Uint8Array | undefined> => {
  // The client's own validation accepts answers without checksum headers, for example a proxy's error page.
  const stream = file.createReadStream({ validation: false });
  let expectedMd5: string | undefined;
  stream.on("response", ({ headers }: { headers: Record<string, string> }) => {
    expectedMd5 = /\bmd5=([^,\s]+)/.exec(headers["x-goog-hash"] ?? "")?.[1];
  });
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of addAbortSignal(signal, stream)) chunks.push(chunk);
  } catch (error) {
    if (codeOf(error) === 404) return undefined;
    throw error;
  }
  const bytes = Buffer.concat(chunks);
  if (expectedMd5 === undefined) throw new InvalidAnswer("the answer to a download is not from Cloud Storage", true);
  if (expectedMd5 !== md5(bytes)) throw new InvalidAnswer("an object was damaged in transit", true);
  return bytes;
};

const exists = async (file: File): Promise<boolean> => {
  try {
    const [{ kind }] = await file.getMetadata();
    if (kind !== "storage#object")
      throw new InvalidAnswer("the answer about an object is not from Cloud Storage", true);
    return true;
  } catch (error) {
    if (codeOf(error) === 404) return false;
    throw error;
  }
};

/** One page. */
const list = async (bucket: Bucket, query: GetFilesOptions) => {
  const [files, , answer] = await bucket.getFiles({ ...query, autoPaginate: false });
  const { kind, nextPageToken } = answer as { kind?: string; nextPageToken?: string };
  if (kind !== "storage#objects") throw new InvalidAnswer("the answer to a listing is not from Cloud Storage", true);
  return { names: objectNamesIn(files.map(({ name }) => name)), nextPageToken };
};

/** Cloud Storage knows the MD5 hash of every object that was uploaded in one request, as all of ours are. */
const md5 = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("base64");

/** The reason never quotes the client's message: it can contain a whole answer, or a URL with a password. */
const failureOf = (error: unknown): RequestFailure => {
  const code = codeOf(error);
  if (typeof code === "number") {
    return { reason: `Cloud Storage answered ${code}`, isTemporary: code === 408 || code === 429 || code >= 500 };
  }
  return { reason: `Cloud Storage cannot be used (${code})`, isTemporary: true };
};

/** The HTTP status, or else the system's or the client's name of the failure, for example `ECONNREFUSED`. */
const codeOf = (error: unknown): number | string => {
  const { code, type, name } = error as { code?: number | string; type?: string; name?: string };
  return code ?? type ?? name ?? "unknown";
};
