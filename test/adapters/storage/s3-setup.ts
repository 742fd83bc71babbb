import { afterEach, beforeEach, expect } from "vitest";
import type { RetryTimes } from "../../../adapters/storage/retry-times.js";
import { type S3ObjectStorageOptions, s3ObjectStorage } from "../../../adapters/storage/s3-object-storage.js";
import { type ObjectName, referenceImageName } from "../../../domain/images/object-name.js";
import { FakeS3, type S3Error } from "../../support/fake-s3.js";

export const PUBLIC_URL = "https://cdn.example/bucket";
/** Long enough for several attempts. */
const RETRY_TIMES: RetryTimes = {
  attemptMilliseconds: 800,
  totalMilliseconds: 5_000,
  firstPauseMilliseconds: 10,
};
/** Long enough for two attempts that time out. */
export const SHORT_RETRY_TIMES: RetryTimes = {
  attemptMilliseconds: 200,
  totalMilliseconds: 1_000,
  firstPauseMilliseconds: 10,
};
export const NAME = referenceImageName("ab".repeat(11), "image/png");
const bytesOf = (length: number) => Buffer.from(new Uint8Array(length).map((_, index) => (index * index) % 251));
export const BYTES = bytesOf(300_000);
export const MIB = 1024 * 1024;
/** Two parts. */
export const LARGE = bytesOf(9 * MIB);
/** Long enough to upload a part on a busy machine. */
export const LARGE_RETRY_TIMES: RetryTimes = {
  attemptMilliseconds: 2_000,
  totalMilliseconds: 15_000,
  firstPauseMilliseconds: 10,
};
export const NOT_IMPLEMENTED: S3Error = { status: 501, code: "NotImplemented" };
export const SLOW_DOWN: S3Error = { status: 503, code: "SlowDown" };
export const INTERNAL_ERROR: S3Error = { status: 500, code: "InternalError" };

export const expectAll = (bytes: Uint8Array | undefined, expected = BYTES) =>
  expect(expected.equals(bytes ?? Buffer.alloc(0))).toBe(true);

/** What the tests of S3ObjectStorage share: a fake of S3 before each test. */
export const setUpS3 = () => {
  let s3: FakeS3;

  beforeEach(async () => {
    s3 = await FakeS3.start();
  });
  afterEach(() => s3.close());

  const storageWith = (options: Partial<S3ObjectStorageOptions> = {}) => {
    const { bucket, region, url: endpoint, credentials } = s3;
    return s3ObjectStorage({
      ...{ bucket, region, endpoint, credentials, publicUrl: PUBLIC_URL, retryTimes: RETRY_TIMES },
      ...options,
    });
  };

  /** A storage that has had its first use. */
  const checked = async (options: Partial<S3ObjectStorageOptions> = {}) => {
    const storage = storageWith(options);
    // On a busy machine a check can take longer than one attempt may.
    await expect.poll(async () => (await storage.check()).isOk()).toBe(true);
    s3.requests.length = 0;
    s3.writes = 0;
    return storage;
  };

  /** Stores an object without a request. */
  const given = (name: ObjectName, bytes: Uint8Array = BYTES) =>
    s3.objects.set(name, { bytes: Buffer.from(bytes), headers: {} });

  const stored = (): Buffer => s3.objects.get(NAME)?.bytes ?? Buffer.alloc(0);

  const methods = (): string[] => s3.requests.map((request) => request.split(" ")[0] ?? "");

  const uploadRequests = (): string[] =>
    s3.requests.map((request) => request.replace(/ [^?]*/, " ").replace(/=[^&]*/g, ""));

  const reasonOf = async (result: ReturnType<ReturnType<typeof storageWith>["put"]>) =>
    (await result)._unsafeUnwrapErr().reason;

  return {
    get s3() {
      return s3;
    },
    storageWith,
    checked,
    given,
    stored,
    methods,
    uploadRequests,
    reasonOf,
  };
};
