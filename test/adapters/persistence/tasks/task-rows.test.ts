import { describe, expect, it } from "vitest";
import { aFailedTask, aQueuedTask, noon } from "../../../../adapters/contracts/support/builders.js";
import { newTaskRow, stateColumns, toTask } from "../../../../adapters/persistence/tasks/task-rows.js";
import { FAILURE_REASONS } from "../../../../domain/tasks/task.js";

/** The reasons that version 2.0 reads. A task with another one is a broken row to it. */
const KNOWN_TO_2_0 = [
  "never_started",
  "refused",
  "submission_unknown",
  "never_submitted",
  "generation_failed",
  "deadline_passed",
  "canceled",
];

const rowWith = (columns: object) => ({
  ...newTaskRow(aQueuedTask(), noon),
  ...stateColumns(aFailedTask()),
  reserved_at: noon.getTime(),
  failed_at: noon.getTime(),
  place: null,
  metadata: null,
  ...columns,
});

describe("the row of a failed task", () => {
  it.each(FAILURE_REASONS)("has for %s a reason that version 2.0 knows", (reason) => {
    expect(KNOWN_TO_2_0).toContain(stateColumns(aFailedTask({ reason })).failure_reason);
  });

  it.each([
    ["generation_failed", null, "generation_failed"],
    ["never_submitted", null, "never_submitted"],
    ["content_refused", null, "content_refused"],
    ["generation_failed", "unusable_result", "unusable_result"],
    ["generation_failed", "a_cause_of_a_later_version", "generation_failed"],
  ])("of another version with %s and the cause %s is read as %s", (failure_reason, failure_cause, reason) => {
    expect(toTask(rowWith({ failure_reason, failure_cause }))).toMatchObject({ state: "failed", reason });
  });
});
