import { join } from "node:path";
import { ContainerModule } from "inversify";
import { sharpImaging } from "../../adapters/imaging/sharp-imaging.js";
import { filesystemObjectStorage } from "../../adapters/storage/filesystem-object-storage.js";
import type { GcsConfig, S3Config } from "../config.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The object storage for images, and the image encoding in front of it. */
export const storage = new ContainerModule(({ bind }) => {
  provide(bind, tokens.imaging, {}, () => sharpImaging());
  provide(bind, tokens.storage, { config: tokens.config }, ({ config: { dataDir, storage } }) => {
    if (storage.kind !== "filesystem") return openBucket(storage);
    const { assetUrl, referenceUrl } = storage;
    return filesystemObjectStorage({ folder: join(dataDir, "objects"), assetUrl, referenceUrl });
  });
});

/** Throws at startup if the bucket cannot be used, not with the first image. */
const openBucket = async (config: GcsConfig | S3Config) => {
  const bucket = await (config.kind === "gcs" ? loadGcs(config) : loadS3(config));
  const checked = await bucket.check();
  if (checked.isErr()) throw new Error(`The bucket ${config.bucket} is not usable: ${checked.error.reason}`);
  return bucket;
};

// The clients of Google and AWS take 250 ms to load, so they are loaded only where they are used.
const loadGcs = async (config: GcsConfig) => {
  const { gcsObjectStorage } = await import("../../adapters/storage/gcs-object-storage.js");
  return gcsObjectStorage(config);
};

const loadS3 = async (config: S3Config) => {
  // It prints on Node.js 20 that its versions of 2027 will need 22. That is for those who update it, not for operators.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
  const { s3ObjectStorage } = await import("../../adapters/storage/s3-object-storage.js");
  return s3ObjectStorage(config);
};
