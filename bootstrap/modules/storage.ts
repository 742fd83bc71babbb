import { join } from "node:path";
import { ContainerModule } from "inversify";
import { SharpImaging } from "../../adapters/imaging/sharp-imaging.js";
import { FilesystemObjectStorage } from "../../adapters/storage/filesystem-object-storage.js";
import type { GcsConfig } from "../config.js";
import { provide } from "../provide.js";
import { tokens } from "../tokens.js";

/** The object storage for images, and the image encoding in front of it. */
export const storage = new ContainerModule(({ bind }) => {
  provide(bind, tokens.imaging, {}, () => new SharpImaging());
  provide(bind, tokens.storage, { config: tokens.config }, ({ config: { dataDir, storage } }) =>
    storage.kind === "gcs"
      ? openBucket(storage)
      : FilesystemObjectStorage.open(join(dataDir, "objects"), storage.assetUrl, storage.referenceUrl),
  );
});

/** Throws at startup if the bucket cannot be used, not with the first image. */
const openBucket = async (config: GcsConfig) => {
  // Google's client takes 250 ms to load, so it is loaded only where it is used.
  const { GcsObjectStorage } = await import("../../adapters/storage/gcs-object-storage.js");
  const bucket = new GcsObjectStorage(config);
  const checked = await bucket.check();
  if (checked.isErr()) throw new Error(`The bucket ${config.bucket} is not usable: ${checked.error.reason}`);
  return bucket;
};
