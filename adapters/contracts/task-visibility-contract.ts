import fc from "fast-check";
import { ok } from "neverthrow";
import type { PublicPrompt, TaskStore } from "../../application/ports/task-store.js";
import { credits } from "../../domain/credits.js";
import { expire, keep, type UploadingImage } from "../../domain/storage-status.js";
import { finish, submit, succeed, type Task, withImage } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import { aCreationRequest, aNativeSize, anImageName, aReservedTask, noon, taskId } from "./builders.js";
import { expect } from "./expect.js";
import { type TaskSetup, unwrap } from "./task-setup.js";
import type { TestFunctions } from "./test-functions.js";

/** What is public: `setVisibility`, `listPublic`, `listPublicPrompts`, `findPublic`. */
export const describeVisibility = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { openAccount, owner, generated, succeeded, kept } = on;
  let tasks: TaskStore;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  const publish = async (task: Task) => unwrap(await tasks.setVisibility(task.id, owner, "public"));
  const gallery = async (limit = 10, before?: TaskId) => (await tasks.listPublic(limit, before)).map(({ id }) => id);

  it("listPublic returns public panoramas with a stored image, newest first, in pages", async () => {
    for (const n of [1, 2, 3]) await publish(await kept(n));
    await kept(4); // private
    await publish(await succeeded(5)); // not kept yet
    expect(await gallery()).toEqual([taskId(3), taskId(2), taskId(1)]);
    expect(await gallery(2)).toEqual([taskId(3), taskId(2)]);
    expect(await gallery(2, taskId(2))).toEqual([taskId(1)]);
    expect((await tasks.listPublic(1, undefined))[0]?.request.visibility).toBe("public");
    const newer = await tasks.listPublic(1, taskId(1), "oldest");
    expect(newer.map(({ id }) => id)).toEqual([taskId(2)]);
  });

  it("listPublicPrompts and findPublic have the tasks of listPublic, and no others", async () => {
    const stored = fc.record({
      // Characters, not UTF-16 units: an emoji is one.
      prompt: fc.constantFrom("a lake", "ein 'See' 🌊", "🌊".repeat(4000), `${"🌊".repeat(3_999)}ab`, undefined),
      visibility: fc.constantFrom("public", "public", "private"),
      end: fc.constantFrom("kept", "kept", "hidden", "expired", "uploading", "reserved"),
    });
    const rich = await openAccount(7, 1_000);
    let n = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(stored, { minLength: 5, maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        async (given, limit) => {
          for (const { prompt, visibility, end } of given) {
            n += 1;
            const parsed = aCreationRequest({ visibility, image_urls: ["https://pictures.example/1.png"] });
            // Earlier versions stored longer prompts.
            const request = { ...parsed, prompt };
            const task = aReservedTask({ id: taskId(n), accountId: rich, request });
            unwrap(
              await tasks.open({
                account: rich,
                dueAt: noon,
                decide: (before) =>
                  ok({
                    task,
                    standing: {
                      ...before,
                      credits: credits(before.credits - 4),
                      activeTasks: before.activeTasks + 1,
                    },
                  }),
              }),
            );
            if (end === "reserved") continue;
            const sent = submit(task, "upstream", noon);
            unwrap(await tasks.move(task, sent, noon));
            const done = finish(sent, "https://p.example/1");
            unwrap(await tasks.move(sent, done, noon));
            const ended = succeed(done, anImageName(n), aNativeSize, noon);
            unwrap(await tasks.move(done, ended, noon));
            if (end === "uploading") continue;
            const next = (end === "expired" ? expire : keep)(ended.image as UploadingImage);
            unwrap(await tasks.move(ended, withImage(ended, next), undefined));
            if (end === "hidden") unwrap(await tasks.hide(task.id, rich, noon));
          }
          for (const first of ["newest", "oldest"] as const) {
            const shown = await tasks.listPublic(1000, undefined, first);
            const found: PublicPrompt[] = [];
            for (let page: PublicPrompt[] | undefined; page === undefined || page.length === limit; ) {
              page = await tasks.listPublicPrompts(limit, found.at(-1)?.id, first);
              found.push(...page);
            }
            const firstCharacters = (text: string) => [...text].slice(0, 4000).join("");
            expect(found).toEqual(
              shown.map(({ id, request: { prompt = "" } }) => ({ id, prompt: firstCharacters(prompt) })),
            );
            const all = await tasks.findPublic(Array.from({ length: n + 2 }, (_, m) => taskId(m)));
            expect(all.sort((a, b) => (a.id < b.id === (first === "oldest") ? -1 : 1))).toEqual(shown);
          }
        },
      ),
      { numRuns: 4 },
    );
    expect(await tasks.findPublic([])).toEqual([]);
  });

  it("setVisibility changes the task, also while background work moves it", async () => {
    const task = await generated(1);
    await publish(task);
    unwrap(await tasks.move(task, succeed(task, anImageName(), aNativeSize, noon), noon));
    expect((await tasks.find(task.id, owner))?.request.visibility).toBe("public");
    unwrap(await tasks.setVisibility(task.id, owner, "private"));
    expect((await tasks.find(task.id, owner))?.request.visibility).toBe("private");
  });
};
