import { type UploadingImage, waitForStorage } from "../../domain/images/storage-status.js";
import type { Attempt } from "./store-panorama.js";

/**
 * Makes attempts to store images. An attempt on a storage that does not answer takes long. So after a failed one, only
 * one at a time is made until one succeeds; meanwhile the other images wait for the storage without an attempt.
 */
export const storageProbe = () => {
  let isDown = false;
  let storing = 0;
  return async (image: UploadingImage, store: () => Promise<Attempt>): Promise<Attempt> => {
    if (isDown && storing > 0) {
      return { image: waitForStorage(image), detail: "the storage did not answer lately", isStorageUnavailable: true };
    }
    storing += 1;
    try {
      const attempt = await store();
      isDown = attempt.isStorageUnavailable === true;
      return attempt;
    } finally {
      storing -= 1;
    }
  };
};

/** What `storageProbe` returns. */
export type StorageProbe = ReturnType<typeof storageProbe>;
