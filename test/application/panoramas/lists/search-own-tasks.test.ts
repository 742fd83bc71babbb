import fc from "fast-check";
import { expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  aSucceededTask,
  taskId,
} from "../../../../adapters/contracts/support/builders.js";
import { searchOwn } from "../../../../application/panoramas/search-own.js";
import type { TaskId } from "../../../../domain/ids.js";
import { RESOLUTION_NAMES } from "../../../../domain/images/resolution.js";
import { isFoundBy, searchWords } from "../../../../domain/tasks/prompt-search.js";
import type { Task } from "../../../../domain/tasks/task.js";
import { matchesFilter } from "../../../../domain/tasks/task-filter.js";
import { VISIBILITIES } from "../../../../domain/tasks/visibility.js";

const owner = accountId(1);

/** The newest task has the highest id. Notes how many tasks are read. */
const listOf = (newestFirst: readonly Task[]) => {
  const reads: number[] = [];
  const list = async (_owner: unknown, limit: number, beyond: TaskId | undefined, { filter = {} } = {}) => {
    const page = newestFirst
      .filter((task) => (beyond === undefined || task.id < beyond) && matchesFilter(task, filter))
      .slice(0, limit);
    reads.push(page.length);
    return page;
  };
  return { tasks: { list }, reads };
};

const aTask = fc.record({
  prompt: fc.constantFrom("a quiet lake", "Lakes of glass", "a harbour", undefined),
  resolution: fc.constantFrom(...RESOLUTION_NAMES),
  visibility: fc.constantFrom(...VISIBILITIES),
});

it("searchOwn finds every task that matches, once, newest first, for every page size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aTask, { maxLength: 250, size: "max" }),
      fc.constantFrom("", "LA", "quiet lake", "h", "zebra"),
      fc.option(fc.constantFrom(...RESOLUTION_NAMES), { nil: undefined }),
      fc.option(fc.constantFrom(...VISIBILITIES), { nil: undefined }),
      fc.integer({ min: 1, max: 30 }),
      async (requests, text, resolution, visibility, limit) => {
        const tasks = requests
          .map((request, n) => aSucceededTask({ id: taskId(1000 + n), request: { ...aCreationRequest(), ...request } }))
          .toReversed();
        const words = searchWords(text);
        const { tasks: listed } = listOf(tasks);
        const found: TaskId[] = [];
        let before: TaskId | undefined;
        do {
          const page = await searchOwn(
            listed,
            owner,
            { words, resolution, ...(visibility && { visibility }) },
            limit,
            before,
          );
          expect(page.tasks.length).toBeLessThanOrEqual(limit);
          found.push(...page.tasks.map(({ id }) => id));
          before = page.next;
        } while (before !== undefined);
        const expected = tasks.filter(
          ({ request: its }) =>
            (resolution === undefined || its.resolution === resolution) &&
            (visibility === undefined || its.visibility === visibility) &&
            isFoundBy(words, its.prompt ?? ""),
        );
        expect(found).toEqual(expected.map(({ id }) => id));
      },
    ),
    { numRuns: 50 },
  );
});

it("searchOwn reads no more for one request when the account is older or its prompts are longer", async () => {
  const pages = async (count: number, prompt: string, words = ["ZEBRA"]) => {
    const request = aCreationRequest({ prompt });
    const tasks = Array.from({ length: count }, (_, n) => aSucceededTask({ id: taskId(10_000 - n), request }));
    const { reads, ...ports } = listOf(tasks);
    const { next } = await searchOwn(ports.tasks, owner, { words, resolution: "4k" }, 24);
    return { read: reads.reduce((sum, one) => sum + one, 0), judged: tasks.findIndex(({ id }) => id === next) + 1 };
  };
  const [short, long] = ["a lake", "lake ".repeat(800)];
  expect(await pages(300, short)).toEqual({ read: 300, judged: 0 }); // the end: no next page
  expect(await pages(3000, short)).toEqual({ read: 500, judged: 486 });
  expect(await pages(3000, long)).toEqual({ read: 100, judged: 24 });
  expect(await pages(3000, long, [])).toEqual({ read: 600, judged: 500 });
});
