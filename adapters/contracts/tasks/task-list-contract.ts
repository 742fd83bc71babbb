import fc from "fast-check";
import type { TaskAccess } from "../../../application/ports/stores/tasks/task-access.js";
import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskId } from "../../../domain/ids.js";
import { finish, submit, succeed, type Task } from "../../../domain/tasks/task.js";
import { matchesFilter } from "../../../domain/tasks/task-filter.js";
import {
  aCreationRequest,
  aNativeSize,
  anImageName,
  aSubmittingTask,
  noon,
  openATask,
  secondsAfter,
  taskId,
} from "../support/builders.js";
import { checkProperty, ON_ONE_STORE } from "../support/check-property.js";
import { expect } from "../support/expect.js";
import type { SuiteOptions, TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** The list of an account, with filters: `list`. */
export const describeList = ({ it, beforeEach }: TestFunctions, on: TaskSetup, options: SuiteOptions): void => {
  const { openAccount, owner, stranger, open, submitting, failed } = on;
  let tasks: TaskStore & TaskAccess & TaskLists;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  it("returns the account's own tasks, newest first, in pages", async () => {
    await openAccount(2);
    unwrap(await open(aSubmittingTask({ id: taskId(9), accountId: stranger })));
    for (const n of [3, 1, 5, 2, 4]) await submitting(n);
    const ids = async (limit: number, before?: number) =>
      (await tasks.list(owner, limit, before === undefined ? undefined : taskId(before))).map(({ id }) => id);
    expect(await ids(2)).toEqual([taskId(5), taskId(4)]);
    expect(await ids(2, 4)).toEqual([taskId(3), taskId(2)]);
    expect(await ids(2, 2)).toEqual([taskId(1)]);
    expect(await ids(2, 1)).toEqual([]);
    expect(await ids(9, 99)).toHaveLength(5); // a task that never existed
  });

  it("returns the other end of the list first, on request", async () => {
    for (const n of [3, 1, 5, 2, 4]) await submitting(n);
    const oldest = async (limit: number, after?: TaskId) =>
      (await tasks.list(owner, limit, after, { first: "oldest" })).map(({ id }) => id);
    expect(await oldest(2)).toEqual([taskId(1), taskId(2)]);
    expect(await oldest(2, taskId(2))).toEqual([taskId(3), taskId(4)]);
    expect(await oldest(2, taskId(4))).toEqual([taskId(5)]);
    expect(await oldest(2, taskId(5))).toEqual([]);
    expect(await tasks.list(stranger, 2, undefined, { first: "oldest" })).toEqual([]);
  });

  it("returns the tasks that match any filter, as the domain defines it, on pages of any size", async () => {
    const time = fc.integer({ min: 0, max: 3 }).map((minutes) => secondsAfter(noon, 60 * minutes));
    const pairs = fc.dictionary(fc.constantFrom("order", "__proto__", "a'?"), fc.constantFrom("1", "2", "%_"));
    const visibility = fc.constantFrom("private" as const, "public" as const);
    const stored = fc.record({
      end: fc.constantFrom("submitting", "submitted", "generated", "succeeded", "failed", "deleted"),
      reservedAt: time,
      visibility,
      metadata: pairs,
    });
    const filter = fc.record(
      {
        status: fc.constantFrom("processing" as const, "succeeded" as const, "failed" as const),
        visibility,
        createdAfter: time,
        createdBefore: time,
        metadata: pairs,
      },
      { requiredKeys: [] },
    );
    // Other tests have an account of 100 credits and five slots.
    const rich = await openAccount(7, 1_000_000);
    let n = 1000;
    await checkProperty(
      fc.asyncProperty(
        fc.array(stored, { maxLength: 6 }),
        fc.array(filter, { minLength: 3, maxLength: 6 }),
        fc.integer({ min: 1, max: 4 }),
        async (given, filters, limit) => {
          for (const { end, reservedAt, ...body } of given) {
            n += 1;
            const task = aSubmittingTask({
              id: taskId(n),
              accountId: rich,
              reservedAt,
              request: aCreationRequest(body),
            });
            // Slots are not what this test is about.
            const opened = await tasks.open({
              account: rich,
              dueAt: noon,
              decide: (standing) =>
                openATask({ ...standing, activeTasks: 0 }, task, reservedAt).map(({ task, standing: after }) => ({
                  task,
                  standing: { ...after, activeTasks: standing.activeTasks + 1 },
                })),
            });
            unwrap(opened);
            if (end === "submitting") continue;
            if (end === "failed") {
              unwrap(await tasks.move(task, failed(task), undefined));
              continue;
            }
            const next = submit(task, "upstream", noon);
            unwrap(await tasks.move(task, next, noon));
            if (end === "submitted") continue;
            const generated = finish(next, "https://p.example/1");
            unwrap(await tasks.move(next, generated, noon));
            if (end === "generated") continue;
            unwrap(await tasks.move(generated, succeed(generated, anImageName(n), aNativeSize, noon), noon));
            if (end === "deleted") unwrap(await tasks.delete(task.id, rich, noon));
          }
          const all = await tasks.list(rich, 100_000, undefined);
          for (const filter of filters) {
            const found: Task[] = [];
            for (
              let before: TaskId | undefined, page: Task[] = [];
              before === undefined || page.length === limit;
              before = page.at(-1)?.id
            ) {
              page = await tasks.list(rich, limit, before, { filter });
              found.push(...page);
              if (page.length === 0) break;
            }
            expect(found).toEqual(all.filter((task) => matchesFilter(task, filter)));
            const oldest = await tasks.list(rich, 100_000, undefined, { filter, first: "oldest" });
            expect(oldest).toEqual(found.toReversed());
          }
        },
      ),
      { ...ON_ONE_STORE, numRuns: 12 },
      options,
    );
    expect(await tasks.list(owner, 9, undefined, { filter: {} })).toEqual([]);
  });
};
