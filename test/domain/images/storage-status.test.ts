import * as fc from "fast-check";
import { err } from "neverthrow";
import { describe, expect, expectTypeOf, it } from "vitest";
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

const events = {
  keep,
  keepWithoutThumbnail,
  addThumbnail,
  failAttempt,
  waitForStorage,
  giveUp,
  expire,
  retry,
} as const;
type Event = keyof typeof events;

/** The events that each state allows, as in the drawing in storage-status.ts: a forbidden one does not compile. */
const legalEvents = (image: StoredImage): Partial<Record<Event, () => StoredImage>> => {
  switch (image.status) {
    case "uploading":
      return {
        keep: () => keep(image),
        keepWithoutThumbnail: () => keepWithoutThumbnail(image),
        failAttempt: () => failAttempt(image),
        waitForStorage: () => waitForStorage(image),
        giveUp: () => giveUp(image),
        expire: () => expire(image),
      };
    case "saved-no-thumb":
      return { addThumbnail: () => addThumbnail(image) };
    case "failed":
      return { retry: () => retry(image)._unsafeUnwrap() };
    case "saved":
    case "expired":
      return {};
  }
};

const afterFailedAttempts = (failedAttempts: number): UploadingImage => ({ ...states.uploading, failedAttempts });

describe("the image of a finished task", () => {
  it.each<[StorageStatus, Event, StorageStatus]>([
    ["uploading", "keep", "saved"],
    ["uploading", "keepWithoutThumbnail", "saved-no-thumb"],
    ["uploading", "failAttempt", "uploading"],
    ["uploading", "waitForStorage", "uploading"],
    ["uploading", "giveUp", "failed"],
    ["uploading", "expire", "expired"],
    ["saved-no-thumb", "addThumbnail", "saved"],
    ["failed", "retry", "uploading"],
  ])("moves from %s by %s to %s, and the image before stays unchanged", (state, event, target) => {
    const before = states[state];
    const copy = structuredClone(before);
    expect(legalEvents(before)[event]?.()).toMatchObject({ status: target, temporaryUrl, imageName });
    expect(before).toEqual(copy);
  });

  it("does not compile with any other transition", () => {
    type StatesThatAllow<Name extends Exclude<Event, "retry">> = Parameters<(typeof events)[Name]>[0]["status"];
    expectTypeOf<StatesThatAllow<"keep">>().toEqualTypeOf<"uploading">();
    expectTypeOf<StatesThatAllow<"keepWithoutThumbnail">>().toEqualTypeOf<"uploading">();
    expectTypeOf<StatesThatAllow<"addThumbnail">>().toEqualTypeOf<"saved-no-thumb">();
    expectTypeOf<StatesThatAllow<"failAttempt">>().toEqualTypeOf<"uploading">();
    expectTypeOf<StatesThatAllow<"waitForStorage">>().toEqualTypeOf<"uploading">();
    expectTypeOf<StatesThatAllow<"giveUp">>().toEqualTypeOf<"uploading">();
    expectTypeOf<StatesThatAllow<"expire">>().toEqualTypeOf<"uploading">();
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

  it("keeps its name and temporary URL through every sequence of events, and stays expired", () => {
    return fc.assert(
      fc.property(
        fc.constantFrom(...STORAGE_STATUSES),
        fc.array(fc.constantFrom(...(Object.keys(events) as Event[])), { maxLength: 40 }),
        (start, sequence) => {
          let image: StoredImage = states[start];
          for (const event of sequence) {
            const next: StoredImage = legalEvents(image)[event]?.() ?? image;
            if (image.status === "expired") expect(next).toEqual(image);
            if (image.status === "saved") expect(["saved", "expired"]).toContain(next.status);
            if (image.status === "saved-no-thumb")
              expect(["saved", "saved-no-thumb", "expired"]).toContain(next.status);
            if (next.status === "uploading") expect(next.failedAttempts).toBeLessThan(KEEP_ATTEMPTS_MAX);
            expect(next).toMatchObject({ temporaryUrl, imageName });
            image = next;
          }
        },
      ),
    );
  });
});
