import { fail, type Task } from "../../../domain/tasks/task.js";
import { withoutTexts } from "../../../domain/tasks/task-texts.js";
import { aCreationRequest, aSubmittingTask, noon, openATask, secondsAfter, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Data of tasks without a picture: their texts, until `eraseTexts`, and the failures of the account. */
export const describeTexts = ({ it }: TestFunctions, on: TaskSetup): void => {
  const { owner, stranger, openAccount, open, kept } = on;
  const metadata = { order: "A-17", "it's": "50 %" };

  const failedAt = async (n: number, at: Date, accountId = owner): Promise<Task> => {
    const request = aCreationRequest({ prompt: `lake ${n}`, metadata });
    const task = aSubmittingTask({ id: taskId(n), accountId, reservedAt: at, request });
    unwrap(await open(task));
    const next = fail(task, "generation_failed", at);
    unwrap(await on.stores.tasks.move(task, next, undefined));
    return next;
  };

  it("eraseTexts erases texts of old failed and deleted tasks, oldest first", async () => {
    const { tasks } = on.stores;
    await openAccount(2);
    const first = await failedAt(1, secondsAfter(noon, 1));
    const second = await failedAt(2, secondsAfter(noon, 2), stranger);
    const recent = await failedAt(3, secondsAfter(noon, 5));
    const succeeded = await kept(4);
    await kept(5);
    unwrap(await tasks.delete(taskId(5), owner, secondsAfter(noon, 3)));

    const erase = (limit: number) => tasks.eraseTexts(secondsAfter(noon, 5), limit, secondsAfter(noon, 99));
    expect(await erase(1)).toBe(1);
    expect(await tasks.find(taskId(1), owner)).toEqual(withoutTexts(first));
    expect(await tasks.find(taskId(2), stranger)).toEqual(second);
    expect(await erase(9)).toBe(2);
    expect(await erase(9)).toBe(0);
    expect(await tasks.find(taskId(2), stranger)).toEqual(withoutTexts(second));
    expect(await tasks.find(taskId(3), owner)).toEqual(recent);
    expect(await tasks.find(taskId(4), owner)).toEqual(succeeded);
    expect((await tasks.list(owner, 9, undefined, { filter: { metadata } })).map(({ id }) => id)).toEqual([taskId(3)]);
    for await (const account of on.stores.ledger.all()) {
      for (const { id, request } of account.tasks) {
        if (id === taskId(5)) expect([request.prompt, request.imageUrls]).toEqual([undefined, []]);
      }
    }
  });

  it("list with filters omits deleted tasks", async () => {
    const { tasks } = on.stores;
    const task = await failedAt(1, noon);
    unwrap(await tasks.delete(task.id, owner, noon));
    for (const filter of [
      {},
      { metadata },
      { status: "failed" },
      { visibility: "private" },
      { createdAfter: new Date(0) },
    ] as const) {
      expect(await tasks.list(owner, 9, undefined, { filter })).toEqual([]);
    }
  });

  it("counts the failures of the account's latest day with any, and their bytes", async () => {
    const seen: unknown[] = [];
    const look = async () => {
      await on.stores.tasks.open({
        account: owner,
        dueAt: noon,
        decide: (standing) => {
          seen.push(standing.failures);
          return openATask({ ...standing, activeTasks: 5 }, aSubmittingTask(), noon);
        },
      });
    };
    await look();
    await failedAt(1, noon);
    await failedAt(2, secondsAfter(noon, 60));
    await look();
    await kept(3);
    await failedAt(4, secondsAfter(noon, 24 * 60 * 60));
    await look();
    const bytes = "lake 1".length + "orderA-17it's50 %".length;
    const day = noon.getUTCFullYear() * 10_000 + (noon.getUTCMonth() + 1) * 100 + noon.getUTCDate();
    expect(seen).toEqual([undefined, { day, count: 2, bytes: 2 * bytes }, { day: day + 1, count: 1, bytes }]);
  });
};
