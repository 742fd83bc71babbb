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

describe("taskEventOf", () => {
  const [end, now] = [secondsAfter(noon, 30), secondsAfter(noon, 99)];
  const submitted = aSubmittedTask();
  const generated = aGeneratedTask();
  const succeeded = aSucceededTask();
  const { image } = succeeded;
  if (image.status !== "uploading") throw new Error("the image has another status");
  const withoutThumbnail = withImage(succeeded, keepWithoutThumbnail(image));
  const failure = (task: Parameters<typeof fail>[0]) => fail(task, "generation_failed", end);

  it.each([
    ["a success", generated, succeed(generated, anImageName(), aNativeSize, end), "panorama.succeeded"],
    ["a failure after the submission", submitted, failure(submitted), "panorama.failed"],
    ["a refused creation", aSubmittingTask(), failure(aSubmittingTask()), "panorama.failed"],
    ["a wait that was too long", aQueuedTask(), failure(aQueuedTask()), "panorama.failed"],
  ] as const)("returns %s with the time of the task", (_, before, next, type) => {
    expect(taskEventOf(before, next, now)).toEqual({ type, accountId: accountId(1), taskId: taskId(1), at: end });
  });

  it.each([
    ["with its thumbnail", withImage(succeeded, keep(image))],
    ["without its thumbnail", withoutThumbnail],
  ])("returns panorama.saved %s with the given time", (_, next) => {
    const saved = { type: "panorama.saved", accountId: accountId(1), taskId: taskId(1), at: now };
    expect(taskEventOf(succeeded, next, now)).toEqual(saved);
  });

  it.each([
    ["a task that had failed", aFailedTask(), aFailedTask()],
    ["a start", aQueuedTask(), start(aQueuedTask(), "only")],
    ["a submission", aSubmittingTask(), submit(aSubmittingTask(), "upstream-1", noon)],
    ["a corrected age", submitted, restartDeadline(submitted, noon)],
    ["a failed attempt to store the image", succeeded, withImage(succeeded, failAttempt(image))],
    ["an expired image", succeeded, withImage(succeeded, expire(image))],
    ["an image that was given up", succeeded, withImage(succeeded, giveUp(image))],
    ["a thumbnail added later", withoutThumbnail, withImage(succeeded, addThumbnail(keepWithoutThumbnail(image)))],
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
        const idOf = (number: number) => eventIdOf({ accountId: accountId(1), number });
        const idOfA = idOf(a);
        expect(idOfA < idOf(b)).toBe(a < b);
        expect(parseEventNumber(idOfA, accountId(1))).toBe(a);
        expect(parseEventNumber(idOfA, accountId(2))).toBeUndefined();
      }),
    );
  });

  const start = `evt_${accountId(1)}_`;
  it.each(["", "evt_", "12", "evt_x_1", `${start}1`, `${start}00000000x1`, `${start}00000000011`])(
    "is not read from %s",
    (text) => {
      expect(parseEventNumber(text, accountId(1))).toBeUndefined();
    },
  );
});
