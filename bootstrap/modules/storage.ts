import { join } from "node:path";
import { ContainerModule } from "inversify";
import { signPictures } from "../../adapters/imaging/provenance/sign-picture.js";
import { sharpImaging } from "../../adapters/imaging/sharp-imaging.js";
import { filesystemObjectStorage } from "../../adapters/storage/filesystem-object-storage.js";
import { StartError } from "../command-error.js";
import type { GcsConfig, S3Config } from "../config.js";
import { bucketProblem, openBucket } from "../open-bucket.js";
import { provide } from "../provide.js";
import { openSigningPair } from "../signing-pair.js";
import { tokens } from "../tokens.js";

/** The object storage for images, and the image encoding in front of it. */
export const storage = new ContainerModule(({ bind }) => {
  const { config, database, clock, signingPair, signPicture } = tokens;
  provide(bind, signingPair, { config, database, clock }, ({ config, database, clock }) =>
    openSigningPair(config, database, clock.now()),
  );
  provide(bind, signPicture, { signingPair, clock }, ({ signingPair, clock }) =>
    signPictures(async () => signingPair, clock),
  );
  provide(bind, tokens.imaging, { signPicture }, ({ signPicture }) => sharpImaging(signPicture));
  provide(bind, tokens.storage, { config: tokens.config }, ({ config: { dataDir, storage } }) => {
    if (storage.kind !== "filesystem") return openUsableBucket(storage);
    const { assetUrl, referenceUrl } = storage;
    return filesystemObjectStorage({ folder: join(dataDir, "objects"), assetUrl, referenceUrl });
  });
});

/** Throws at startup if the bucket cannot be used, not with the first image. */
const openUsableBucket = async (config: GcsConfig | S3Config) => {
  const bucket = await openBucket(config);
  const checked = await bucket.check();
  if (checked.isOk()) return bucket;
  const { kind, message } = bucketProblem(config.bucket, checked.error.reason);
  throw new StartError(kind, message);
};
