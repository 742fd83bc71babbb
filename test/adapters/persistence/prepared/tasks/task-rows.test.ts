import { expect, it } from "vitest";
import { aFailedTask, aQueuedTask, noon } from "../../../../../adapters/contracts/support/builders.js";
import { newTaskRow, stateColumns, toTask } from "../../../../../adapters/persistence/prepared/tasks/task-rows.js";
import { FAILURE_REASONS } from "../../../../../domain/tasks/task.js";

it.each(FAILURE_REASONS)("the row of a failed task has the reason %s", (reason) => {
  const row = {
    ...newTaskRow(aQueuedTask(), noon),
    ...stateColumns(aFailedTask({ reason })),
    reserved_at: noon.getTime(),
    failed_at: noon.getTime(),
    place: null,
    metadata: null,
  };
  expect(toTask(row)).toMatchObject({ state: "failed", reason });
});
