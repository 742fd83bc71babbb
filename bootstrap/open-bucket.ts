import type { GcsObjectStorage } from "../adapters/storage/gcs-object-storage.js";
import type { RetryTimes } from "../adapters/storage/retry-times.js";
import type { S3ObjectStorage } from "../adapters/storage/s3-object-storage.js";
import type { GcsConfig, S3Config } from "./config.js";

/** Opens the configured bucket, without calling it. The clients of Google and AWS take 250 ms to load, so only then. */
export const openBucket = async (
  config: GcsConfig | S3Config,
  retryTimes?: RetryTimes,
): Promise<GcsObjectStorage | S3ObjectStorage> => {
  if (config.kind === "gcs") {
    const { gcsObjectStorage } = await import("../adapters/storage/gcs-object-storage.js");
    return gcsObjectStorage({ ...config, retryTimes });
  }
  // On Node.js 20 it warns that its versions of 2027 will need 22. That is for those who update it, not for operators.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
  const { s3ObjectStorage } = await import("../adapters/storage/s3-object-storage.js");
  return s3ObjectStorage({ ...config, retryTimes });
};

/** Remedies for the reasons of a bucket's adapter. The first match counts. */
const ADVICE: readonly (readonly [reason: RegExp, kind: "configuration" | "unreachable", advice: string])[] = [
  [/answered 404/, "configuration", "Make the bucket, or correct its name."],
  [/is in the region/, "configuration", "Set S3_REGION to it."],
  [
    /answered 40[013]|no credentials/,
    "configuration",
    "Check the credentials: they must be allowed to list the bucket, and to read, write and delete objects.",
  ],
  [/./, "unreachable", "Check the address of the storage, and the network between here and there."],
];

/** Error text for an unusable bucket, with a remedy. */
export const bucketProblem = (bucket: string, reason: string) => {
  const [, kind, advice] = ADVICE.find(([pattern]) => pattern.test(reason)) ?? ["", "unreachable" as const, ""];
  return { kind, message: `The bucket ${bucket} is not usable: ${reason}. ${advice}` };
};
