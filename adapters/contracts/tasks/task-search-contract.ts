import fc from "fast-check";
import { ok } from "neverthrow";
import type { TaskAccess } from "../../../application/ports/stores/tasks/task-access.js";
import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import { credits } from "../../../domain/credits/credits.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { expire, keep } from "../../../domain/images/storage-status.js";
import { isFoundBy, searchWords } from "../../../domain/tasks/prompt-search.js";
import { finish, type SucceededTask, submit, succeed, withImage } from "../../../domain/tasks/task.js";
import { aCreationRequest, aNativeSize, anImageName, aSubmittingTask, noon, taskId } from "../support/builders.js";
import { checkProperty, ON_ONE_STORE } from "../support/check-property.js";
import { expect } from "../support/expect.js";
import type { SuiteOptions, TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

const PRICE = 4;
const prompts = fc.constantFrom("a lake", "Lakes", "dunes", "a lake, 'dunes'", "Düne 🌊", "夜の東京タワー", undefined);
const searches = fc.constantFrom("lak", "dune", "LAKE dun", "東京", "🌊", "x", "東京タワー");
const events = fc.constantFrom("publish", "publish", "unpublish", "delete", "expire", "keep", "keep");
const histories = fc.array(fc.record({ prompt: prompts, events: fc.array(events, { maxLength: 5 }) }), {
  minLength: 3,
  maxLength: 6,
});

/** `searchPublic`. */
export const describeSearch = ({ it, beforeEach }: TestFunctions, on: TaskSetup, options: SuiteOptions): void => {
  let tasks: TaskStore & TaskAccess & TaskLists;
  let owner: AccountId;

  beforeEach(async () => {
    ({ tasks } = on.stores);
    owner = await on.openAccount(7, 10_000);
  });

  const succeeded = async (id: TaskId, prompt: string | undefined): Promise<SucceededTask> => {
    const parsed = aCreationRequest({ image_urls: ["https://pictures.example/1.png"] });
    const task = aSubmittingTask({ id, accountId: owner, request: { ...parsed, prompt } });
    unwrap(
      await tasks.open({
        account: owner,
        dueAt: noon,
        decide: ({ activeTasks, ...standing }) =>
          ok({
            task,
            standing: {
              ...standing,
              activeTasks: activeTasks + 1,
              credits: credits(standing.credits - PRICE),
            },
          }),
      }),
    );
    const sent = submit(task, "upstream", noon);
    unwrap(await tasks.move(task, sent, noon));
    const done = finish(sent, "https://p.example/1");
    unwrap(await tasks.move(sent, done, noon));
    const ended = succeed(done, anImageName(1), aNativeSize, noon);
    unwrap(await tasks.move(done, ended, noon));
    return ended;
  };

  const apply = async (task: SucceededTask, event: string): Promise<SucceededTask> => {
    const { id, image } = task;
    if (event === "publish") await tasks.setVisibility(id, owner, "public");
    if (event === "unpublish") await tasks.setVisibility(id, owner, "private");
    if (event === "delete") await tasks.delete(id, owner, noon);
    let next: SucceededTask | undefined;
    if (event === "keep" && image.status === "uploading") next = withImage(task, keep(image));
    if (event === "expire" && image.status === "uploading") next = withImage(task, expire(image));
    return next !== undefined && (await tasks.move(task, next, undefined)).isOk() ? next : task;
  };
  const published = async (n: number, prompt: string) => {
    let task = await succeeded(taskId(n), prompt);
    for (const event of ["publish", "keep"]) task = await apply(task, event);
    return task;
  };

  const walk = async (search: string, limit: number, first: "newest" | "oldest"): Promise<SucceededTask[]> => {
    const found: SucceededTask[] = [];
    for (let page: SucceededTask[] | undefined; page === undefined || page.length === limit; ) {
      page = await tasks.searchPublic(searchWords(search), limit, found.at(-1)?.id, first);
      found.push(...page);
    }
    return found;
  };

  it("searchPublic equals listPublic filtered by words, in pages, for random histories", async () => {
    let n = 0;
    await checkProperty(
      fc.asyncProperty(
        histories.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray([...list.keys()], { minLength: 3 }))),
        searches,
        fc.integer({ min: 1, max: 4 }),
        async ([list, order], search, limit) => {
          // They are published in another order than that of their ids.
          for (const index of order) {
            let task = await succeeded(taskId(n + index), list[index]?.prompt);
            for (const event of list[index]?.events ?? []) task = await apply(task, event);
          }
          n += list.length;
          for (const first of ["newest", "oldest"] as const) {
            const shown = await tasks.listPublic(1000, undefined, first);
            const wanted = shown.filter(({ request }) => isFoundBy(searchWords(search), request.prompt ?? ""));
            expect(await walk(search, limit, first)).toEqual(wanted);
          }
        },
      ),
      { ...ON_ONE_STORE, numRuns: 10 },
      options,
    );
  });

  it("searchPublic continues after a task that has left the gallery", async () => {
    for (const n of [1, 2, 3, 4, 5]) await published(n, "a lake");
    unwrap(await tasks.setVisibility(taskId(3), owner, "private"));
    const beyond = async (n: number, first: "newest" | "oldest") =>
      (await tasks.searchPublic(["LAKE"], 9, taskId(n), first)).map(({ id }) => id);
    expect(await beyond(3, "newest")).toEqual([taskId(2), taskId(1)]);
    expect(await beyond(3, "oldest")).toEqual([taskId(4), taskId(5)]);
    expect([await beyond(0, "newest"), await beyond(9, "oldest")]).toEqual([[], []]);
    expect([(await beyond(9, "newest")).length, (await beyond(0, "oldest")).length]).toEqual([4, 4]);
  });

  it("searchPublic finds each of many panoramas once that were published from both ends to the middle", async () => {
    // Between two neighbours there is a new one each time.
    const ids = Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? 1 + n : 121 - n));
    for (const n of ids) await published(n, "a lake");
    for (const first of ["newest", "oldest"] as const) {
      const found = (await walk("lake", 7, first)).map(({ id }) => id);
      expect(found.toSorted()).toEqual(ids.map(taskId).toSorted());
    }
  });

  it("searchPublic finds rare, frequent, old and new words", async () => {
    // Adapters may search the first few hundred in another way than the rest.
    const count = 280;
    for (let n = 1; n <= count; n += 1) {
      const age = n <= 26 ? "old" : n > count - 26 ? "new" : "other";
      await published(n, `${age} lake ${n % 2 === 0 ? "even" : "odd"}${n === 140 ? " middle" : ""}`);
    }
    const found = async (search: string, limit: number, beyond: number | undefined, first: "newest" | "oldest") => {
      const cursor = beyond === undefined ? undefined : taskId(beyond);
      return (await tasks.searchPublic(searchWords(search), limit, cursor, first)).map(({ id }) => id);
    };
    for (const first of ["newest", "oldest"] as const) {
      const all = await tasks.listPublic(count, undefined, first);
      for (const search of ["lake", "odd", "old", "new", "middle", "none", "lake old", "even new", "o l", "old new"]) {
        const wanted = all.filter(({ request }) => isFoundBy(searchWords(search), request.prompt ?? ""));
        expect(await walk(search, 25, first)).toEqual(wanted);
        for (const beyond of [20, 140, 260]) {
          const cursor = taskId(beyond);
          const after = wanted.map(({ id }) => id).filter((id) => (first === "newest" ? id < cursor : id > cursor));
          expect(await found(search, 25, beyond, first)).toEqual(after.slice(0, 25));
        }
      }
    }
  });

  it("searchPublic takes every character that a word can have", async () => {
    const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter((text) => !text.includes("\0"));
    let n = 0;
    await checkProperty(
      fc.asyncProperty(word, async (prompt) => {
        const words = searchWords(prompt);
        fc.pre(words.length > 0);
        n += 1;
        await published(n, prompt);
        expect((await tasks.searchPublic(words, 9, undefined)).map(({ id }) => id)).toContain(taskId(n));
      }),
      { ...ON_ONE_STORE, numRuns: 30 },
      options,
    );
  });
};
