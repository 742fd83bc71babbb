import { err } from "neverthrow";
import { describe, expect, it } from "vitest";
import { anImageName } from "../../../adapters/contracts/support/builders.js";
import { thumbnailNameOf } from "../../../domain/images/object-name.js";
import {
  addThumbnail,
  expire,
  failAttempt,
  giveUp,
  KEEP_ATTEMPTS_MAX,
  keep,
  keepRetryAfterSeconds,
  keepWithoutThumbnail,
  objectsOf,
  retry,
  STORAGE_STATUSES,
  type StorageStatus,
  type StoredImage,
  storageRetryAfterSeconds,
  takeNextName,
  type UploadingImage,
  uploading,
  waitForStorage,
} from "../../../domain/images/storage-status.js";

const temporaryUrl = "https://provider.example.com/temporary/1.jpg";
const imageName = anImageName();

const states = {
  uploading: uploading(temporaryUrl, imageName),
  saved: { status: "saved", temporaryUrl, imageName },
  "saved-no-thumb": { status: "saved-no-thumb", temporaryUrl, imageName },
  failed: { status: "failed", temporaryUrl, imageName },
  expired: { status: "expired", temporaryUrl, imageName },
} as const satisfies Record<StorageStatus, StoredImage>;

const afterFailedAttempts = (failedAttempts: number): UploadingImage => ({ ...states.uploading, failedAttempts });

describe("the image of a finished task", () => {
  it("has exactly these states", () => {
    expect(STORAGE_STATUSES).toEqual(Object.keys(states));
  });

  it("keeps its URL and its name when it is given up, expires, or gets its thumbnail", () => {
    expect(giveUp(states.uploading)).toEqual(states.failed);
    expect(expire(states.uploading)).toEqual(states.expired);
    expect(addThumbnail(states["saved-no-thumb"])).toEqual(states.saved);
  });

  it.each(["uploading", "saved", "saved-no-thumb", "expired"] as const)(
    "refuses an operator's retry of a %s image",
    (state) => {
      expect(retry(states[state])).toEqual(err({ kind: "illegal_transition", from: state, event: "retry" }));
    },
  );

  it("fails after the last of its attempts, not before", () => {
    for (let attempt = 1; attempt < KEEP_ATTEMPTS_MAX; attempt += 1) {
      expect(failAttempt(afterFailedAttempts(attempt - 1))).toEqual(afterFailedAttempts(attempt));
    }
    expect(failAttempt(afterFailedAttempts(KEEP_ATTEMPTS_MAX - 1))).toEqual(states.failed);
  });

  it("resets its attempts when it is stored, waits for the storage, or is retried by an operator", () => {
    expect(states.uploading).toEqual({ status: "uploading", temporaryUrl, imageName, failedAttempts: 0 });
    expect(retry(states.failed)._unsafeUnwrap()).toEqual(states.uploading);
    expect(keep(afterFailedAttempts(3))).toEqual(states.saved);
    expect(keepWithoutThumbnail(afterFailedAttempts(3))).toEqual(states["saved-no-thumb"]);
    expect(waitForStorage(afterFailedAttempts(KEEP_ATTEMPTS_MAX - 1))).toEqual(states.uploading);
  });

  it("has an image and a thumbnail under its name, and while it is renamed also under its next name", () => {
    const nextName = anImageName(2);
    const names = [imageName, thumbnailNameOf(imageName)];
    expect(objectsOf(states.saved)).toEqual(names);
    expect(takeNextName(states.saved)).toEqual(states.saved);
    const renaming = keep({ ...states.uploading, nextName });
    expect(objectsOf(renaming)).toEqual([...names, nextName, thumbnailNameOf(nextName)]);
    expect(takeNextName(renaming)).toEqual({ ...states.saved, imageName: nextName });
  });

  it("waits 1, 2, 4 … at most 60 seconds between attempts", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7].map((failed) => keepRetryAfterSeconds(afterFailedAttempts(failed)));
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60]);
    expect(keepRetryAfterSeconds(afterFailedAttempts(0))).toBe(1);
  });

  it("storageRetryAfterSeconds grows with the age, from 1 to 600 seconds", () => {
    const ages = [-86_400, 0, 1, 3, 7, 511, 1023, Number.MAX_SAFE_INTEGER];
    expect(ages.map(storageRetryAfterSeconds)).toEqual([1, 1, 2, 4, 8, 512, 600, 600]);
  });
});
