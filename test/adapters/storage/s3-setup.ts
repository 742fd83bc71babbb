import { afterEach, beforeEach } from "vitest";
import type { RetryTimes } from "../../../adapters/storage/retry-times.js";
import { type S3ObjectStorageOptions, s3ObjectStorage } from "../../../adapters/storage/s3-object-storage.js";
import { firstUsed, NAME, PUBLIC_URL, RETRY_TIMES } from "../../support/contracts/faulty-bucket-contract.js";
import { FakeS3, type S3Error } from "../../support/fake-s3.js";

/** Long enough to upload a part on a busy machine. */
export const LARGE_RETRY_TIMES: RetryTimes = {
  attemptMilliseconds: 2_000,
  totalMilliseconds: 15_000,
  firstPauseMilliseconds: 10,
};
export const SLOW_DOWN: S3Error = { status: 503, code: "SlowDown" };
export const INTERNAL_ERROR: S3Error = { status: 500, code: "InternalError" };

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
  const checked = (retryTimes: RetryTimes = RETRY_TIMES) => firstUsed(storageWith({ retryTimes }), s3);

  return {
    get s3() {
      return s3;
    },
    storageWith,
    checked,
    stored: (): Buffer => s3.objects.get(NAME)?.bytes ?? Buffer.alloc(0),
    methods: (): string[] => s3.requests.map((request) => request.split(" ")[0] ?? ""),
  };
};
