import * as fc from "fast-check";
import { err } from "neverthrow";
import { describe, expect, it } from "vitest";
import {
  addThumbnail,
  expire,
  failAttempt,
  giveUp,
  KEEP_ATTEMPTS_MAX,
  keep,
  keepRetryAfterSeconds,
  keepWithoutThumbnail,
  retry,
  type StorageStatus,
  type StoredImage,
  type UploadingImage,
  uploading,
} from "../../domain/storage-status.js";
import { anImageName } from "../support/builders.js";

const temporaryUrl = "https://provider.example.com/temporary/1.jpg";
const imageName = anImageName();

const states = {
  uploading: uploading(temporaryUrl, imageName),
  saved: { status: "saved", temporaryUrl, imageName },
  "saved-no-thumb": { status: "saved-no-thumb", temporaryUrl, imageName },
  failed: { status: "failed", temporaryUrl, imageName },
  expired: { status: "expired", temporaryUrl, imageName },
} as const satisfies Record<StorageStatus, StoredImage>;

const events = { keep, keepWithoutThumbnail, addThumbnail, failAttempt, giveUp, expire, retry } as const;
type Event = keyof typeof events;
const everyEvent = Object.keys(events) as Event[];
const everyState = Object.keys(states) as StorageStatus[];

/** The drawing in storage-status.ts, said a second time; `failAttempt` stays until the attempts are used up. */
const arrows: Readonly<Record<StorageStatus, Partial<Record<Event, StorageStatus>>>> = {
  uploading: {
    keep: "saved",
    keepWithoutThumbnail: "saved-no-thumb",
    failAttempt: "uploading",
    giveUp: "failed",
    expire: "expired",
  },
  saved: {},
  "saved-no-thumb": { addThumbnail: "saved" },
  failed: { retry: "uploading" },
  expired: {},
};

const afterFailedAttempts = (failedAttempts: number): UploadingImage => ({ ...states.uploading, failedAttempts });

describe("the image of a finished task", () => {
  it("begins as uploading, with no failed attempt", () => {
    expect(uploading(temporaryUrl, imageName)).toEqual({
      status: "uploading",
      temporaryUrl,
      imageName,
      failedAttempts: 0,
    });
  });

  it.each(everyState.flatMap((state) => everyEvent.map((event) => [state, event] as const)))(
    "that is %s answers %s as the drawing says",
    (state, event) => {
      const before = states[state];
      const copy = structuredClone(before);

      const result = events[event](before);

      const target = arrows[state][event];
      if (target === undefined) expect(result).toEqual(err({ kind: "illegal_transition", from: state, event }));
      else expect(result._unsafeUnwrap()).toMatchObject({ status: target, temporaryUrl, imageName });
      expect(before).toEqual(copy);
    },
  );

  it("fails with the last of its attempts, and not before", () => {
    let image: StoredImage = states.uploading;
    for (let attempt = 1; attempt < KEEP_ATTEMPTS_MAX; attempt += 1) {
      image = failAttempt(image)._unsafeUnwrap();
      expect(image).toEqual(afterFailedAttempts(attempt));
    }
    expect(failAttempt(image)._unsafeUnwrap()).toEqual(states.failed);
  });

  it("has all its attempts again after an operator's retry", () => {
    expect(retry(states.failed)._unsafeUnwrap()).toEqual(states.uploading);
  });

  it("counts no failed attempts once it is kept", () => {
    expect(keep(afterFailedAttempts(3))._unsafeUnwrap()).toEqual(states.saved);
    expect(keepWithoutThumbnail(afterFailedAttempts(3))._unsafeUnwrap()).toEqual(states["saved-no-thumb"]);
  });

  it("waits 1, 2, 4 … and at most 60 seconds between its attempts", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7].map((failed) => keepRetryAfterSeconds(afterFailedAttempts(failed)));
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60]);
    expect(keepRetryAfterSeconds(afterFailedAttempts(0))).toBe(1);
  });

  it("keeps its name and its temporary URL, and stays saved or expired, whatever happens", () => {
    return fc.assert(
      fc.property(
        fc.constantFrom(...everyState),
        fc.array(fc.constantFrom(...everyEvent), { maxLength: 40 }),
        (start, story) => {
          let image: StoredImage = states[start];
          for (const event of story) {
            const next = events[event](image).unwrapOr(image);
            if (image.status === "saved" || image.status === "expired") expect(next).toEqual(image);
            if (image.status === "saved-no-thumb") expect(["saved", "saved-no-thumb"]).toContain(next.status);
            if (next.status === "uploading") expect(next.failedAttempts).toBeLessThan(KEEP_ATTEMPTS_MAX);
            expect(next).toMatchObject({ temporaryUrl, imageName });
            image = next;
          }
        },
      ),
    );
  });
});
