import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  accountId,
  aFailedTask,
  aGeneratedTask,
  aNativeSize,
  anImageName,
  aQueuedTask,
  aSubmittedTask,
  aSubmittingTask,
  aSucceededTask,
  noon,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import {
  addThumbnail,
  expire,
  failAttempt,
  giveUp,
  keep,
  keepWithoutThumbnail,
} from "../../../domain/images/storage-status.js";
import {
  EVENT_RETENTION_MILLISECONDS,
  EVENT_TYPES,
  eventIdOf,
  parseEventNumber,
  taskEventOf,
} from "../../../domain/tasks/account-event.js";
import { fail, restartDeadline, start, submit, succeed, withImage } from "../../../domain/tasks/task.js";

it("taskEventOf returns undefined if the task was already failed", () => {
  expect(taskEventOf(aFailedTask(), aFailedTask(), noon)).toBeUndefined();
});

describe("taskEventOf", () => {
  const now = secondsAfter(noon, 99);
  const submitted = aSubmittedTask();
  const generated = aGeneratedTask();
  const succeeded = aSucceededTask();
  const { image } = succeeded;
  if (image.status !== "uploading") throw new Error("the image has another status");
  const withoutThumbnail = withImage(succeeded, keepWithoutThumbnail(image));
  const failure = (task: Parameters<typeof fail>[0]) => fail(task, "generation_failed", secondsAfter(noon, 30));

  it.each([
    [
      "a success",
      generated,
      succeed(generated, anImageName(), aNativeSize, secondsAfter(noon, 30)),
      "panorama.succeeded",
    ],
    ["a failure after the submission", submitted, failure(submitted), "panorama.failed"],
    ["a refused creation", aSubmittingTask(), failure(aSubmittingTask()), "panorama.failed"],
    ["a wait that was too long", aQueuedTask(), failure(aQueuedTask()), "panorama.failed"],
  ] as const)("returns %s with the time of the task", (_, before, next, type) => {
    const at = secondsAfter(noon, 30);
    expect(taskEventOf(before, next, now)).toEqual({ type, accountId: accountId(1), taskId: taskId(1), at });
  });

  it.each([
    ["with its thumbnail", withImage(succeeded, keep(image))],
    ["without its thumbnail", withoutThumbnail],
  ])("returns panorama.saved %s with the given time", (_, next) => {
    const saved = { type: "panorama.saved", accountId: accountId(1), taskId: taskId(1), at: now };
    expect(taskEventOf(succeeded, next, now)).toEqual(saved);
  });

  it.each([
    ["a start", aQueuedTask(), start(aQueuedTask(), "only")],
    ["a submission", aSubmittingTask(), submit(aSubmittingTask(), "upstream-1", noon)],
    ["a corrected age", submitted, restartDeadline(submitted, noon)],
    ["a failed attempt to store the image", succeeded, withImage(succeeded, failAttempt(image))],
    ["an expired image", succeeded, withImage(succeeded, expire(image))],
    ["an image that was given up", succeeded, withImage(succeeded, giveUp(image))],
    [
      "a thumbnail that is added later",
      withoutThumbnail,
      withImage(succeeded, addThumbnail(keepWithoutThumbnail(image))),
    ],
  ] as const)("returns undefined for %s", (_, before, next) => {
    expect(taskEventOf(before, next, now)).toBeUndefined();
  });
});

it("events have four types and are kept for 30 days", () => {
  expect(EVENT_TYPES).toEqual(["panorama.succeeded", "panorama.failed", "panorama.saved", "credits.low"]);
  expect(EVENT_RETENTION_MILLISECONDS).toBe(2_592_000_000);
});

describe("the id of an event", () => {
  const numbers = fc.integer({ min: 1, max: 2 ** 31 - 1 });

  it("sorts like the numbers of the events of an account, and is read back", () => {
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        const [idOfA, idOfB] = [a, b].map((number) => eventIdOf({ accountId: accountId(1), number })) as [
          string,
          string,
        ];
        expect(idOfA < idOfB).toBe(a < b);
        expect(parseEventNumber(idOfA, accountId(1))).toBe(a);
        expect(parseEventNumber(idOfA, accountId(2))).toBeUndefined();
      }),
    );
  });

  it.each([
    "",
    "evt_",
    "12",
    "evt_x_1",
    `evt_${accountId(1)}_1`,
    `evt_${accountId(1)}_00000000x1`,
    `evt_${accountId(1)}_00000000011`,
  ])("is not read from %s", (text) => {
    expect(parseEventNumber(text, accountId(1))).toBeUndefined();
  });
});
