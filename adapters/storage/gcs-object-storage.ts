import { createHash } from "node:crypto";
import { addAbortSignal } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { type Bucket, type File, Storage } from "@google-cloud/storage";
import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { ObjectStorage, StorageUnavailable } from "../../application/ports/object-storage.js";
import type { ObjectName } from "../../domain/object-name.js";
import { objectNameOf } from "./object-name-of.js";

/** The bucket, and how it is called. */
export type GcsObjectStorageOptions = {
  readonly bucket: string;
  /** Where clients read the bucket's objects, without a trailing slash; by default Google's own URL of the bucket. */
  readonly publicUrl?: string | undefined;
  /** URL of an emulator. It is sent no credentials. */
  readonly apiEndpoint?: string | undefined;
  /** By default 10 s for an attempt, 30 s for all attempts, and a first pause of at most 0.5 s. */
  readonly retryTimes?: RetryTimes | undefined;
};

/** How long a call of the bucket may take, and when it is repeated. All are milliseconds. */
export type RetryTimes = {
  /** Timeout of one request including its whole answer. */
  readonly attemptMilliseconds: number;
  /** Timeout of a call with all its attempts. */
  readonly totalMilliseconds: number;
  /** Longest pause before the second attempt; doubles before each further attempt. */
  readonly firstPauseMilliseconds: number;
};

const RETRY_TIMES: RetryTimes = { attemptMilliseconds: 10_000, totalMilliseconds: 30_000, firstPauseMilliseconds: 500 };

/** Objects never change, so caches never need to revalidate them. */
const CACHE_CONTROL = "public, max-age=31536000, immutable";

/** Objects in a bucket of Google Cloud Storage, which serves them. */
export interface GcsObjectStorage extends ObjectStorage {
  /** Checks that the bucket exists and can be accessed: one attempt without retries, for a start or a readiness probe. */
  check(): Promise<Result<void, StorageUnavailable>>;
}

/**
 * An object storage in a bucket of Google Cloud Storage. Google's client reads the credentials from the environment
 * (`GOOGLE_APPLICATION_CREDENTIALS`, or those of the machine). Nothing is called before the first use: see `check`.
 */
export const gcsObjectStorage = (options: GcsObjectStorageOptions): GcsObjectStorage => new ObjectsInBucket(options);

/**
 * This class retries, not Google's client: the client can hang forever after its total timeout, and it neither detects nor
 * retries a truncated download.
 */
class ObjectsInBucket implements GcsObjectStorage {
  private readonly bucket: Bucket;
  private readonly publicUrl: string;
  private readonly retryTimes: RetryTimes;

  constructor({ bucket, publicUrl, apiEndpoint, retryTimes = RETRY_TIMES }: GcsObjectStorageOptions) {
    const storage = new Storage({
      ...(apiEndpoint !== undefined && { apiEndpoint }),
      timeout: retryTimes.attemptMilliseconds,
      retryOptions: { autoRetry: false },
    });
    this.bucket = storage.bucket(bucket);
    this.publicUrl = publicUrl ?? `https://storage.googleapis.com/${bucket}`;
    this.retryTimes = retryTimes;
  }

  put(name: ObjectName, bytes: Uint8Array, contentType: string): Promise<Result<void, StorageUnavailable>> {
    return this.withRetry(() => create(this.bucket.file(name), bytes, contentType));
  }

  async read(name: ObjectName): Promise<Result<Uint8Array, NotFound | StorageUnavailable>> {
    const found = await this.withRetry((signal) => download(this.bucket.file(name), signal));
    return found.andThen((bytes) => (bytes === undefined ? err(notFound(`There is no object ${name}.`)) : ok(bytes)));
  }

  /** A 404 is success: the object did not exist, or an earlier attempt whose answer was lost has deleted it. */
  delete(name: ObjectName): Promise<Result<void, StorageUnavailable>> {
    return this.withRetry(async () => {
      await this.bucket.file(name).delete({ ignoreNotFound: true });
    });
  }

  async check(): Promise<Result<void, StorageUnavailable>> {
    try {
      await within(this.retryTimes.attemptMilliseconds, () => list(this.bucket));
      return ok(undefined);
    } catch (error) {
      return err(unavailable(failureOf(error)));
    }
  }

  urlOf(name: ObjectName): string {
    return `${this.publicUrl}/${name}`;
  }

  nameOf(url: string): ObjectName | undefined {
    return objectNameOf(url, (name) => this.urlOf(name));
  }

  /** Retries temporary failures with exponential back-off while there is time left for a whole attempt. */
  private async withRetry<T>(call: (signal: AbortSignal) => Promise<T>): Promise<Result<T, StorageUnavailable>> {
    const { attemptMilliseconds, totalMilliseconds, firstPauseMilliseconds } = this.retryTimes;
    const deadline = performance.now() + totalMilliseconds;
    for (let longestPause = firstPauseMilliseconds; ; longestPause *= 2) {
      try {
        return ok(await within(attemptMilliseconds, call));
      } catch (error) {
        const failure = failureOf(error);
        // Random jitter, so that several instances do not retry at the same moment.
        const pause = longestPause * (0.5 + Math.random() / 2);
        const isTooLate = performance.now() + pause + attemptMilliseconds > deadline;
        if (!failure.isTemporary || isTooLate) return err(unavailable(failure));
        await setTimeout(pause);
      }
    }
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

const list = async (bucket: Bucket): Promise<void> => {
  const [, , answer] = await bucket.getFiles({ maxResults: 1, autoPaginate: false });
  const { kind } = answer as { kind?: string };
  if (kind !== "storage#objects") throw new InvalidAnswer("the answer to a listing is not from Cloud Storage", true);
};

/** Cloud Storage knows the MD5 hash of every object that was uploaded in one request, as all of ours are. */
const md5 = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("base64");

/** Rejects when the time is up, even if `call` ignores the signal. */
const within = <T>(milliseconds: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const signal = AbortSignal.timeout(milliseconds);
  const timeout = new Promise<never>((_, reject) => {
    const reason = `Cloud Storage did not send a complete answer within ${milliseconds} ms`;
    signal.addEventListener("abort", () => reject(new InvalidAnswer(reason, true)), { once: true });
  });
  return Promise.race([call(signal), timeout]);
};

/** A missing or incorrect answer that no HTTP status reports. */
class InvalidAnswer extends Error {
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary: boolean) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

type Failure = { readonly reason: string; readonly isTemporary: boolean };

/** The reason never quotes the client's message: it can contain a whole answer, or a URL with a password. */
const failureOf = (error: unknown): Failure => {
  if (error instanceof InvalidAnswer) return { reason: error.message, isTemporary: error.isTemporary };
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

const unavailable = ({ reason }: Failure): StorageUnavailable => ({ kind: "storage_unavailable", reason });
