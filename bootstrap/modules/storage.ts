import { join } from "node:path";
import { ContainerModule } from "inversify";
import { sharpImaging } from "../../adapters/imaging/sharp-imaging.js";
import { filesystemObjectStorage } from "../../adapters/storage/filesystem-object-storage.js";
import type { GcsConfig } from "../config.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The object storage for images, and the image encoding in front of it. */
export const storage = new ContainerModule(({ bind }) => {
  provide(bind, tokens.imaging, {}, () => sharpImaging());
  provide(bind, tokens.storage, { config: tokens.config }, ({ config: { dataDir, storage } }) => {
    if (storage.kind === "gcs") return openBucket(storage);
    const { assetUrl, referenceUrl } = storage;
    return filesystemObjectStorage({ folder: join(dataDir, "objects"), assetUrl, referenceUrl });
  });
});

/** Throws at startup if the bucket cannot be used, not with the first image. */
const openBucket = async (config: GcsConfig) => {
  // Google's client takes 250 ms to load, so it is loaded only where it is used.
  const { gcsObjectStorage } = await import("../../adapters/storage/gcs-object-storage.js");
  const bucket = gcsObjectStorage(config);
  const checked = await bucket.check();
  if (checked.isErr()) throw new Error(`The bucket ${config.bucket} is not usable: ${checked.error.reason}`);
  return bucket;
};
