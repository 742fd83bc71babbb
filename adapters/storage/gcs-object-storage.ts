import { createHash } from "node:crypto";
import { addAbortSignal } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { type Bucket, type File, Storage } from "@google-cloud/storage";
import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { ObjectStorage, StorageUnavailable } from "../../application/ports/object-storage.js";
import { type ObjectName, parseObjectName } from "../../domain/object-name.js";

export type GcsSettings = {
  readonly bucket: string;
  /** Where the world reads the bucket, without a slash at the end; Google's own address of it if not given. */
  readonly publicUrl?: string | undefined;
  /** An emulator. It is sent no credentials. */
  readonly apiEndpoint?: string | undefined;
};

/** How long to wait for an ailing storage. */
export type Patience = {
  /** For one request and its whole answer. */
  readonly attemptMilliseconds: number;
  /** For a call with all its attempts. */
  readonly totalMilliseconds: number;
  /** Before the second attempt; twice as long before each further one. */
  readonly firstPauseMilliseconds: number;
};

const PATIENCE: Patience = { attemptMilliseconds: 10_000, totalMilliseconds: 30_000, firstPauseMilliseconds: 500 };

/** An object never changes, and so a cache need never ask again. */
const CACHE_CONTROL = "public, max-age=31536000, immutable";

/**
 * Objects in a bucket of Google Cloud Storage, under the credentials that Google's client finds in the environment.
 *
 * Attempts are repeated here, not by the client, which may hang for ever when its total time is up, and neither notices
 * nor repeats a download that was cut.
 */
export class GcsObjectStorage implements ObjectStorage {
  private readonly bucket: Bucket;
  private readonly publicUrl: string;
  private readonly patience: Patience;

  constructor({ bucket, publicUrl, apiEndpoint }: GcsSettings, patience: Patience = PATIENCE) {
    const storage = new Storage({
      ...(apiEndpoint !== undefined && { apiEndpoint }),
      timeout: patience.attemptMilliseconds,
      retryOptions: { autoRetry: false },
    });
    this.bucket = storage.bucket(bucket);
    this.publicUrl = publicUrl ?? `https://storage.googleapis.com/${bucket}`;
    this.patience = patience;
  }

  put(name: ObjectName, bytes: Uint8Array, contentType: string): Promise<Result<void, StorageUnavailable>> {
    return this.persistently(() => create(this.bucket.file(name), bytes, contentType));
  }

  async read(name: ObjectName): Promise<Result<Uint8Array, NotFound | StorageUnavailable>> {
    const found = await this.persistently((signal) => download(this.bucket.file(name), signal));
    return found.andThen((bytes) => (bytes === undefined ? err(notFound(`There is no object ${name}.`)) : ok(bytes)));
  }

  /** Cloud Storage answers 404 to an object that is not there, also to a second attempt whose first one had worked. */
  delete(name: ObjectName): Promise<Result<void, StorageUnavailable>> {
    return this.persistently(async () => {
      await this.bucket.file(name).delete({ ignoreNotFound: true });
    });
  }

  /** Whether the bucket is there and open to us, asked once: for a readiness probe. */
  async check(): Promise<Result<void, StorageUnavailable>> {
    try {
      await within(this.patience.attemptMilliseconds, () => list(this.bucket));
      return ok(undefined);
    } catch (error) {
      return err(unavailable(failureOf(error)));
    }
  }

  urlOf(name: ObjectName): string {
    return `${this.publicUrl}/${name}`;
  }

  nameOf(url: string): ObjectName | undefined {
    const name = parseObjectName(url.split("/").slice(-2).join("/"));
    return name !== undefined && this.urlOf(name) === url ? name : undefined;
  }

  /** Repeats what may go better the next time, after pauses that grow, while there is time for a whole attempt. */
  private async persistently<T>(call: (signal: AbortSignal) => Promise<T>): Promise<Result<T, StorageUnavailable>> {
    const { attemptMilliseconds, totalMilliseconds, firstPauseMilliseconds } = this.patience;
    const deadline = performance.now() + totalMilliseconds;
    for (let longestPause = firstPauseMilliseconds; ; longestPause *= 2) {
      try {
        return ok(await within(attemptMilliseconds, call));
      } catch (error) {
        const failure = failureOf(error);
        // Of different length each time, so that several instances do not come back at one moment.
        const pause = longestPause * (0.5 + Math.random() / 2);
        const isTooLate = performance.now() + pause + attemptMilliseconds > deadline;
        if (!failure.passes || isTooLate) return err(unavailable(failure));
        await setTimeout(pause);
      }
    }
  }
}

/** Creates the object, or leaves the one that is there: then Cloud Storage answers 412 to generation 0. */
const create = async (file: File, bytes: Uint8Array, contentType: string): Promise<void> => {
  const md5Hash = md5(bytes);
  try {
    await file.save(bytes, {
      resumable: false,
      preconditionOpts: { ifGenerationMatch: 0 },
      // With `md5Hash`, Cloud Storage refuses bytes that were damaged on their way before there is an object of them.
      metadata: { contentType, cacheControl: CACHE_CONTROL, md5Hash },
      // Or the client would delete an object, whoever wrote it, when this answer is none of Cloud Storage's.
      validation: false,
    });
  } catch (error) {
    if (codeOf(error) === 412) return;
    throw error;
  }
  // What the types call metadata is whatever the answer was.
  const stored = file.metadata?.md5Hash;
  if (stored === undefined) throw new WrongAnswer("an upload was answered, but not by Cloud Storage", true);
  // Another attempt would find an object of that name, and take it for the right one.
  if (stored !== md5Hash) throw new WrongAnswer("Cloud Storage has stored other bytes than it was sent", false);
};

/** The bytes, if they have the checksum that comes with them; `undefined` if there is no such object. */
const download = async (file: File, signal: AbortSignal): Promise<Uint8Array | undefined> => {
  // The client checks nothing where the headers with the checksum are missing, as on a proxy's error page.
  const stream = file.createReadStream({ validation: false });
  let promised: string | undefined;
  stream.on("response", ({ headers }: { headers: Record<string, string> }) => {
    promised = /\bmd5=([^,\s]+)/.exec(headers["x-goog-hash"] ?? "")?.[1];
  });
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of addAbortSignal(signal, stream)) chunks.push(chunk);
  } catch (error) {
    if (codeOf(error) === 404) return undefined;
    throw error;
  }
  const bytes = Buffer.concat(chunks);
  if (promised === undefined) throw new WrongAnswer("a download was answered, but not by Cloud Storage", true);
  if (promised !== md5(bytes)) throw new WrongAnswer("an object arrived damaged", true);
  return bytes;
};

const list = async (bucket: Bucket): Promise<void> => {
  const [, , answer] = await bucket.getFiles({ maxResults: 1, autoPaginate: false });
  const { kind } = answer as { kind?: string };
  if (kind !== "storage#objects") throw new WrongAnswer("a listing was answered, but not by Cloud Storage", true);
};

/** Of an object that was uploaded in one piece, as ours are, Cloud Storage always knows it. */
const md5 = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("base64");

/** Fails when the time is up, even if `call` does not notice the signal. */
const within = <T>(milliseconds: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const signal = AbortSignal.timeout(milliseconds);
  const timeUp = new Promise<never>((_, reject) => {
    const reason = `Cloud Storage gave no whole answer in ${milliseconds} ms`;
    signal.addEventListener("abort", () => reject(new WrongAnswer(reason, true)), { once: true });
  });
  return Promise.race([call(signal), timeUp]);
};

/** An answer that is not what it should be, though no status of HTTP says so. */
class WrongAnswer extends Error {
  readonly passes: boolean;

  constructor(message: string, passes: boolean) {
    super(message);
    this.passes = passes;
  }
}

type Failure = { readonly reason: string; readonly passes: boolean };

/**
 * The reason is in our own words: the client's messages hold whole answers, and the address with a password that may
 * be in it.
 */
const failureOf = (error: unknown): Failure => {
  if (error instanceof WrongAnswer) return { reason: error.message, passes: error.passes };
  const code = codeOf(error);
  if (typeof code === "number") {
    return { reason: `Cloud Storage answered ${code}`, passes: code === 408 || code === 429 || code >= 500 };
  }
  return { reason: `Cloud Storage cannot be used (${code})`, passes: true };
};

/** A status of HTTP, or else what the system or the client calls the failure. */
const codeOf = (error: unknown): number | string => {
  const { code, type, name } = error as { code?: number | string; type?: string; name?: string };
  return code ?? type ?? name ?? "unknown";
};

const unavailable = ({ reason }: Failure): StorageUnavailable => ({ kind: "storage_unavailable", reason });
