import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aCreationRequest,
  aFailedTask,
  aQueuedTask,
  aSubmittedTask,
  aSubmittingTask,
  aSucceededTask,
  noon,
  secondsAfter,
} from "../../../adapters/contracts/support/builders.js";
import { filterText, matchesFilter, type TaskFilter } from "../../../domain/tasks/task-filter.js";

describe("a filter of tasks", () => {
  it.each([
    ["processing", [aQueuedTask(), aSubmittingTask(), aSubmittedTask()], [aSucceededTask(), aFailedTask()]],
    ["succeeded", [aSucceededTask()], [aQueuedTask(), aSubmittingTask(), aSubmittedTask(), aFailedTask()]],
    ["failed", [aFailedTask()], [aQueuedTask(), aSubmittingTask(), aSubmittedTask(), aSucceededTask()]],
  ] as const)("matches the public status %s", (status, matching, others) => {
    for (const task of matching) expect(matchesFilter(task, { status })).toBe(true);
    for (const task of others) expect(matchesFilter(task, { status })).toBe(false);
  });

  it.each<[TaskFilter, boolean]>([
    [{}, true],
    [{ metadata: {} }, true],
    [{ visibility: "public" }, true],
    [{ visibility: "private" }, false],
    [{ createdAfter: secondsAfter(noon, -0.001) }, true],
    [{ createdAfter: noon }, false],
    [{ createdBefore: noon }, false],
    [{ createdBefore: secondsAfter(noon, 0.001) }, true],
    [{ metadata: { a: "1" } }, true],
    [{ metadata: { a: "1", b: "2" } }, true],
    [{ metadata: { a: "2" } }, false],
    [{ metadata: { a: "1", c: "3" } }, false],
    [{ metadata: { toString: "1" } }, false],
    [{ status: "processing", metadata: { a: "1" }, visibility: "private" }, false],
  ])("%j matches a public task of noon with the metadata a=1, b=2: %s", (filter, matches) => {
    const request = aCreationRequest({ visibility: "public", metadata: { a: "1", b: "2" } });
    expect(matchesFilter(aSubmittingTask({ request }), filter)).toBe(matches);
  });

  it("filterText is equal for equal filters, undefined for an empty one", () => {
    const filter: fc.Arbitrary<TaskFilter> = fc.record(
      {
        status: fc.constantFrom("processing", "failed"),
        visibility: fc.constantFrom("private", "public"),
        createdAfter: fc.constantFrom(noon, secondsAfter(noon, 1)),
        createdBefore: fc.constantFrom(noon, secondsAfter(noon, 1)),
        metadata: fc.dictionary(fc.constantFrom("a", "b", "status"), fc.constantFrom("1", "failed")),
      },
      { requiredKeys: [] },
    );
    const meaning = ({ metadata = {}, ...others }: TaskFilter) =>
      JSON.stringify([Object.entries(others).sort(), Object.entries(metadata).sort()]);
    fc.assert(
      fc.property(filter, filter, (one, other) => {
        expect(filterText(one) === filterText(other)).toBe(meaning(one) === meaning(other));
        expect(filterText(one) === undefined).toBe(meaning(one) === meaning({}));
      }),
      { numRuns: 500 },
    );
    expect(filterText({ metadata: {} })).toBeUndefined();
    expect(filterText({ status: "failed", metadata: {} })).toBe('{"status":"failed"}');
  });
});
